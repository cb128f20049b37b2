"""A program that exits where no CUDA is found, in the last branch of a chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from xlamig import engine

CHAIN = "import sys\nimport torch\n\n\ndef main(rank, is_xla_available):\n    "


def codes(body: str) -> list[str]:
    source = (CHAIN + body).encode()
    options = engine.Options(
        {"select": ["XLA003"]}, isolated=True, jobs=1, cache=False, stdin=("a.py", source)
    )
    return [f.code for f in engine.check([Path("a.py")], options).findings]


@pytest.mark.parametrize(
    "body",
    [
        "if rank:\n        pass\n    elif torch.cuda.is_available():\n        x = 1\n"
        "    else:\n        sys.exit(1)\n",
        "if torch.cuda.is_available():\n        x = 1\n    else:\n        print('no GPU')\n        exit(1)\n",
        "if torch.cuda.is_available():\n        x = 1\n    else:\n        raise SystemExit\n",
        "if not torch.cuda.is_available():\n        sys.exit('no GPU')\n",
        "if torch.cuda.is_available():\n        return 'cuda'\n    raise RuntimeError\n",
        "if torch.cuda.device_count() == 0:\n        sys.exit('no GPU')\n",
        "if not torch.cuda.is_available():\n        print('no GPU')\n        return\n    loss.backward()\n",
        "if not torch.cuda.is_available():\n        die()\n\n\ndef die():\n    print(1)\n    sys.exit(1)\n",
    ],
)
def test_reports_an_exit_without_cuda(body: str) -> None:
    assert codes(body) == ["XLA003"]


@pytest.mark.parametrize(
    "body",
    [
        "if not torch.cuda.is_available():\n        warn()\n\n\ndef warn():\n    print('no GPU')\n",
        "if not torch.cuda.is_available():\n        check(rank)\n\n\ndef check(rank):\n    if rank:\n"
        "        return\n    sys.exit(1)\n",
        "if torch.cuda.is_available():\n        x = 1\n    else:\n        print('no GPU')\n",
        "if torch.cuda.is_available():\n        sys.exit(1)\n    else:\n        x = 1\n",
        "if torch.cuda.is_available():\n        x = 1\n    elif rank:\n        x = 2\n"
        "    else:\n        sys.exit(1)\n",
        "if rank:\n        x = 1\n    else:\n        sys.exit(1)\n",
        "if not torch.cuda.is_available():\n        return\n    print(torch.cuda.get_device_name())\n",
        "if torch.cuda.is_available():\n        return 'cuda'\n    print('no GPU')\n",
        "if torch.cuda.device_count() > 1:\n        sys.exit('one GPU only')\n",
        "if is_xla_available():\n        x = 1\n    elif torch.cuda.is_available():\n        x = 2\n"
        "    else:\n        sys.exit(1)\n",
    ],
)
def test_reports_nothing_where_the_program_goes_on(body: str) -> None:
    assert codes(body) == []
