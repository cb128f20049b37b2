"""Sources for the syntax tests: real files, and every form of the language at its most awkward."""

from __future__ import annotations

import sysconfig
from pathlib import Path

_STDLIB = Path(sysconfig.get_path("stdlib"))
_FILES = (
    "argparse.py",
    "asyncio/base_events.py",
    "asyncio/taskgroups.py",
    "contextlib.py",
    "dataclasses.py",
    "fractions.py",
    "html/entities.py",
    "stat.py",
    "tokenize.py",
    "typing.py",
)


def stdlib() -> dict[str, str]:
    return {name: (_STDLIB / name).read_bytes().decode("utf-8") for name in _FILES}


EXPRESSIONS = (
    "a",
    "a.b.c",
    "(a).b",
    "( # c (\n a # d\n)",
    "( a . b )",
    "((a.b))(c)",
    "(a # f(\n (b))",
    "f(*a, b, *c, d=1, **e, g=2)",
    "f(\n  a, # one, two\n  b # three\n  , c=(d), # four\n)",
    "f(( a ), (b), c = (d),)",
    "f(a for a in b)",
    "f(\n# only a comment\n)",
    "f(k := 1, *(a, b), **{'c': d})",
    "a[0]",
    "a[b:c, ::d, ...]",
    "a[:]",
    "a[*b]",
    "a[* (b), c]",
    "a[(b, c)]",
    "- 5",
    "-(-a)",
    "not (not a)",
    "~ + - a",
    "a + b * (c - d) ** -e @ f",
    "a // b % c << d >> e & f | g ^ h",
    "a and (b and c) and d or e",
    "(a or b) and (c)",
    "a < b <= c == d != e is f is not g in h not in i",
    "a not   in b",
    "(a if b else c) if d else e",
    "lambda: 0",
    "lambda a, /, b=1, *c, d=(2), **e: (a, b)",
    "lambda *, a: a",
    "[*a, (b), *c]",
    "()",
    "(a,)",
    "a, *b",
    "{a, *b}",
    "{'a': 1, **b, (c): (d)}",
    "{}",
    "[a for b in c if d if e for f in g]",
    "{a: b for a, b in c}",
    "{a for a in b}",
    "((a) for a in (b))",
    "(yield)",
    "(yield a, b)",
    "(yield from a)",
    "(a := (b))",
    "'a' 'b' \"c\"",
    "('a' # d\n 'b')",
    "b'a' b'\\x00'",
    "r'\\d'.x",
    "rb'\\d' B'a'",
    "'\\N{BULLET} \\u00e9 𝔘'",
    '"""a\n\'b\n"""',
    "f''",
    "f'a{b}c{{d}}{e!r:>{width}}'",
    "f'{a:{b(c):{d(e)}}}'",
    "f'{a=}' 'b' f'{c:%H:%M}'",
    "f'{x[\"k\"]}{(lambda: 1)()}'",
    "rf'\\d{a}'",
    "0, 00, 0xFF, 0o17, 0b1, 1_000, 1.5, .5, 5., 1e-3, 2j, 1_0.0_1j",
    "1" + "0" * 5000,
    "...",
    "True, False, None",
    "é.ñ(ａ=1)",
)

STATEMENTS = (
    "pass",
    "a; b; c",
    "a = b = c",
    "a, (b, [c]) = d",
    "(a) = (b)",
    "a: int",
    "a.b: 'T' = (c)",
    "a += b; c @= d; e //= f; g >>= h; i **= j",
    "return",
    "return (a)",
    "return a, b",
    "raise",
    "raise A(b) from (c)",
    "assert a, (b)",
    "del a, b[0], (c)",
    "del (a, b)",
    "global a, b",
    "nonlocal a",
    "import a.b.c as d, e",
    "from . import a",
    "from .. a . b import (c as d, # e\n  f,)",
    "from a import *",
    "x = 1  # type: int",
    "if a: pass\nelif (b): c; d\nelse: e",
    "if a:\n\tb\nelse:\n        c",
    "for a, b in c: pass\nelse: d",
    "for x in *a, b:\n  break",
    "while a:\n  continue\nelse:\n  pass",
    "with a: pass",
    "with (a as b, c() as (d, e)): pass",
    "with (a), b as c.d: pass",
    "with (yield): pass",
    "try: a\nfinally: b",
    "try: a\nexcept: b",
    "try:\n  a\nexcept (A, B) as e:\n  c\nexcept D:\n  pass\nelse: f\nfinally:\n  g",
    "try: a\nexcept* (A) as e: b\nexcept *B: c",
    "def f(): pass",
    "@a\n@b.c(d) # e\n\n@(f)\ndef g(a, b: int = (1), *c: d, e, f=2, **h) -> (i): return a",
    "def f(a, /, b, *, c): # type: (...) -> None\n  '''doc'''\n  # last",
    "async def f():\n  async for a in b: await c\n  async with d as e, f: pass\n"
    "  return [x async for x in y if await z]",
    "class A: pass",
    "@a\nclass B(C, *d, metaclass=E, **f):\n  '''doc'''\n  x: int = 1",
    "type X[T: int, *U, **V] = list[T]",
    "def f[T = int](a: T) -> T: ...",
    "class A[T](B[T]): ...",
    "match a:\n  case 1 | -1 | 'a' 'b' | None: pass\n  case [a, *_, B(c, d=e)]: f\n"
    "  case {'k': v, **rest} if v: pass\n  case (x.y as z): pass\n  case _: pass",
    "match a, b:\n  case A(x, (y)) | A(x, y=y,): pass\n  case [*rest]: pass\n  case (): pass",
    "match = case = type = 1; match(case)[type]",
    "if a:\n  if b:\n    c\n  # comment\n  d",
    "x = a \\\n  + b \\\n  . c",
    "\f\nx\n\f\ny",
)

MODULES = {
    "empty": "",
    "blank": "\n\n  \n",
    "only comments": "# a\n\n  # b",
    "no last newline": "a = f(b)",
    "no last newline in a block": "def f():\n  return g(1)",
    "comment without last newline": "a\n# b",
    "carriage returns": "a = f(b)\r\nif a:\r\n  g(\r\n    c,\r\n  )\r\n",
    "old Mac": "a = f(b)\rif a:\r  g(c)\r",
    "mixed newlines": "a = '''b\r\n'''\nc = d\r\ne\r\n",
    "tabs": "if a:\n\tif b:\n\t\tf(\tc\t)\n",
    "form feeds": "\f# a\n\f\ndef f():\n\f  return 1\n\f\n",
    "line separators": "a = '\u2028\x85\x1c' # \u2029\nb = f(a)\n",
    "semicolons": "a; f(b) ;c;\nif d: e; f\n",
    "shebang": "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n'''doc'''\nimport a\n",
}


def nasty() -> dict[str, str]:
    """Every form on its own, all in one file, and the odd files."""
    expressions = {f"expression {e}": f"x = {e}\n" if "\n" not in e else f"x = ({e})\n" for e in EXPRESSIONS}
    statements = {f"statement {s}": f"{s}\n" for s in STATEMENTS}
    together = "\n".join([*expressions.values(), *statements.values()])
    nested = "def f():\n" + "".join(f"    {line}\n" for line in "if a:\n  b(c)\nx = d".splitlines())
    return {**expressions, **statements, **MODULES, "together": together, "nested": nested}
