from __future__ import annotations

import pytest

from xlamig.fix.soundness import Soundness
from xlamig.syntax import module_from_text


def holds(before: str, after: str) -> bool:
    return Soundness.of(before, module_from_text(before)).holds(after)


@pytest.mark.parametrize(
    "after",
    [
        "import os\nx = default_device()\n",  # nothing binds it
        "import os\nx = (\n",
        "import os\nreturn 1\n",  # parses, and does not compile
        "x = os.sep\n",  # its import has gone
        "import os\nfrom y import *\nx = os.sep\n\ndef f():\n    nonlocal x\n",
    ],
)
def test_a_text_that_is_no_program_any_more(after: str) -> None:
    assert not holds("import os\nx = os.sep\n", after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "from xla_compat import default_device\nx = default_device()\n"),
        ("from a import *\nx = f()\n", "from a import *\nx = g()\n"),  # may come with the star
        ("x = unknown\n", "y = unknown\n"),  # was so before
        ("return 1\n", "return 2\n"),
        ("x = [print(i) for i in range(3)]\n", "x = [i for i in range(3)]\nprint(__file__)\n"),
        ("def f(a, *b, c=1, **d): return a\n", "def f(a, *b, c=1, **d): return b, c, d, __name__\n"),
    ],
)
def test_a_text_that_still_is_one(before: str, after: str) -> None:
    assert holds(before, after)
