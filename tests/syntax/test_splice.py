"""A spliced module is what a parse of the whole text gives, or nothing."""

from __future__ import annotations

import random

import pytest
from nasty_sources import nasty

from xlamig.syntax import Edit, Unparsable, module_from_edit, module_from_text, splice

FUNCTION = "def f{0}(a):\n    if a:\n        return {0}\n    # end\n\n\n"
CLASS = '''\
@decorated(by="@")
class C{0}(B):
    """Doc."""

    x = 1; y = 2

    @property
    # why
    def p(self):
        return [
self.x]

    async def g(self): await self.x  # one line
    # of the class

# of the module
'''
TYPED = (
    "new = 1\n", "    new = 1\n", "  new = 1\n", "\tnew = 1\n", "# c\n", "\n", "@d\n", "    @d\n", ")", "(",
    "else:\n    e\n", "    else:\n", "class D:\n", "    def h(self): ...\n", "if a: b\n", "pass; \\\n", ";",
    "x = 1 \\\n", '"""\n', "'", ":", "\f", "\r\n", "from __future__ import annotations\n", '"""doc"""\n',
    "except E:\n    e\n",
)  # fmt: skip


def whole(text: str) -> str | None:
    try:
        return repr(module_from_text(text))
    except Unparsable:
        return None


def spliced(before: str, after: str) -> str | None:
    found = module_from_edit(module_from_text(before), Edit.between(before, after))
    return None if found is None else repr(found)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return 2", "return 20\n"),
        ("    # end\n", "    b = 2\n"),
        ("def f2(a):\n", "def f2(a):\n    b: int = a\n"),
        ("    x = 1; y = 2\n", "    x = 1\n"),
        ("    @property\n", ""),
        ("    # of the class\n", "    z = 1\n"),
        ("# of the module\n", "last = 1"),
        ("await self.x  # one line\n", "await self.x\n\n    z = 1\n"),
        ("def f3(a):\n    if a:\n        return 3\n    # end\n\n\n", ""),
    ],
)
def test_only_a_part_is_parsed(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    text = "import a\n" + "".join(map(FUNCTION.format, range(5))) + CLASS.format(1)
    new = text.replace(before, after, 1)
    assert new != text
    parsed: list[str] = []
    monkeypatch.setattr(splice, "module_from_text", lambda piece: parsed.append(piece) or _parsed(piece))
    assert spliced(text, new) == whole(new) is not None
    assert max(map(len, parsed)) < len(new) / 2


_parsed = module_from_text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a = 1\nb = 2\n", 'a = 1\nb = """2\n'),  # the text goes on behind the piece
        ("if a:\n    b\nc = 1\nd = 1\n", "if a:\n    b\nelse:\n    e\nd = 1\n"),
        ("if a:\n    b\nc = 1\nd = 1\n", "if a:\n    b\n    c = 1\nd = 1\n"),
        ("a\nb\nc\n", "a\nb \\\nc\n"),
        ("a\nb\nc\n", "a\nb; \\\nc\n"),
        ("a\nb\nc\n", "a\n@b\nc\n"),
        ("class A:\n    a = 1\n    b = 1\n", "class A:\n    a = 1\n        b = 1\n"),
        ("class A:\n    a = 1\n    b = 1\nc\n", "class A:\n    a = 1\n  b = 1\nc\n"),
        ("class A: a = 1; \\\n    b = 1\nc\n", "class A: a = 1; \\\n    b = 1\n    d = 1\nc\n"),
    ],
)
def test_a_piece_that_is_not_complete_is_left_to_the_whole_parse(before: str, after: str) -> None:
    assert spliced(before, after) in (None, whole(after))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb\nif c:\n  d\n", "a\nif b:\n\te\nif c:\n  d\n"),  # the first indentation is the module's
        ("a\nif b:\n\te\nif c:\n  d\n", "a\nb\nif c:\n  d\n"),
        ('"""doc"""\na\nb\n', '"""doc"""\nfrom __future__ import annotations\nb\n'),  # imports go below it
        ('"""doc"""; a\nc\nb\n', '"""doc"""; a\nfrom __future__ import annotations\nb\n'),
        ("a\nif b:\r  c\r\nd\ndef e():\n    f\n", "a\nif b:\r  c\r\ng\nd\ndef e():\n    f\n"),
        ("match a:\n  case b: c\nd\ndef e():\n    f\n", "match a:\n  case b: c\ng\nd\ndef e():\n    f\n"),
        ("a\nb\n", "b\n"),
        ("if a:\n    b\nc\nd\n", "if a:\n    b\nc\n\f\nd\n"),
        ("", "a\n"),
    ],
)
def test_what_the_start_of_a_text_decides_stays_true(before: str, after: str) -> None:
    assert spliced(before, after) in (None, whole(after))


@pytest.mark.parametrize("seed", range(12))
def test_random_edits(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [FUNCTION.format(1), CLASS.format(1), "x = 1\n", "if a:\n\tb\nelif c: d\nelse:\n\te\n"]
    pieces += [text if text.endswith("\n") else f"{text}\n" for text in nasty().values() if len(text) < 500]
    text = "".join(rng.choice(pieces) for _ in range(6))
    while whole(text) is None:
        text = "".join(rng.choice(pieces) for _ in range(6))
    for _ in range(40):
        at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        line = text.rfind("\n", 0, at) + 1
        new = rng.choice(TYPED)
        after = rng.choice(
            [
                text[:line] + new + text[line:],
                text[:at] + new + text[at:],
                text[:at] + text[min(end, at + rng.randrange(30)) :],
            ]
        )
        found = spliced(text, after)
        assert found is None or found == whole(after), after
