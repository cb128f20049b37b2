"""A hypothesis strategy for modules: forms of the language put inside each other at random."""

from __future__ import annotations

import re

from hypothesis import strategies as st

_LEAVES = ("a", "é", "1", "-2.5", "None", "'s'", "'a' \"b\"", "b'x'", "f'{a}'", "...", "[]", "f()")
_FORMS = (
    "(_)",
    "( # )\n_ )",
    "(_).b",
    "(_) . c . d",
    "f(_)",
    "(_)(*_, k=_ ,)",
    "g(\n_ , # (\n **_ # x\n)",
    "(_)[_, _:_]",
    "(- _)",
    "(_ + _)",
    "(_ and (_) or _)",
    "(not _ in _)",
    "(_ if _ else _)",
    "[_, *_]",
    "{_: _, **_}",
    "(lambda a, *b, c=_: _)",
    "[_ for a in _ if _]",
    "(w := _)",
    "(_,)",
)
_SIMPLE = ("_", "a = b = _", "a.b += _", "a: _ = _", "assert _, _", "del a[_]", "_; _ # c", "x = _ \\\n . y")
_COMPOUND = (
    "if _:§\nelse:§",
    "for a in _:§",
    "while _:§",
    "with _ as a:§",
    "try:§\nexcept _ as e:§\nfinally:§",
    "@f(_)\ndef g(a, b=_, *, c: _ = _) -> _:§",
    "class A(_, k=_):§",
    "match _:\n case [a, f(b, c=1)] if _:§",
)


def _fill(template: str, parts: list[str]) -> str:
    pieces = iter(parts)
    return re.sub(r"\b_\b", lambda _: next(pieces), template)


def _form(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    holes = st.lists(inner, min_size=4, max_size=4)
    return st.builds(_fill, st.sampled_from(_FORMS), holes)


_EXPRESSION = st.recursive(st.sampled_from(_LEAVES), _form, max_leaves=12)
_HOLES = st.lists(_EXPRESSION.map(lambda e: f"({e})"), min_size=8, max_size=8)
_LINE = st.builds(_fill, st.sampled_from(_SIMPLE), _HOLES)


def _block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def indented(template: str, parts: list[str], bodies: list[str], indent: str) -> str:
        rest = iter(bodies)
        inner = "  " if "case" in template else indent
        made = re.sub("§", lambda _: "\n" + _shift(next(rest), inner), _fill(template, parts))
        return made

    bodies = st.lists(inner, min_size=3, max_size=3)
    indents = st.sampled_from(["  ", "    ", "\t"])
    return st.builds(indented, st.sampled_from(_COMPOUND), _HOLES, bodies, indents)


def _shift(body: str, indent: str) -> str:
    return "\n".join(indent + line for line in body.split("\n"))


_STATEMENT = st.recursive(_LINE, _block, max_leaves=4)


@st.composite
def modules(draw: st.DrawFn) -> str:
    statements = draw(st.lists(_STATEMENT, max_size=4))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    last = draw(st.sampled_from(["", "\n", "\n# end"]))
    return ("\n".join(statements) + last).replace("\n", newline)
