"""Facts and pages made by hand from a few lines of source, as the analyser would make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from xlamig import ir
from xlamig.config.settings import Settings
from xlamig.facts import ApiUse, Argument, DeviceChoice, Fact, Value
from xlamig.findings import Effort, Finding, Fix
from xlamig.fix.context import Draft, FixContext, FixDeclined, Options
from xlamig.fix.edits import apply_edits
from xlamig.fix.scope import Scope
from xlamig.fix.strategies import STRATEGIES
from xlamig.source.text import SourceText
from xlamig.syntax import module_from_text

LOOSE = Scope(Path(), "")


class Page:
    """A file with questions that a test asks: where is this text, what does this strategy write."""

    def __init__(
        self, text: str, filename: str, package_root: Path | None, home: Scope | None, **settings: Any
    ) -> None:
        module = module_from_text(text)
        self.text = text
        self.context = FixContext(
            SourceText(filename, text), module, Settings(**settings), package_root=package_root, home=home
        )

    def span(self, piece: str, occurrence: int = 0) -> tuple[int, int]:
        start = -1
        for _ in range(occurrence + 1):
            start = self.text.index(piece, start + 1)
        return start, start + len(piece)

    def call(self, piece: str, name: str, occurrence: int = 0, **fields: Any) -> ApiUse:
        """The fact of the call that is written `piece`."""
        span = self.span(piece, occurrence)
        node = next(
            n for n in ir.walk(self.context.module) if isinstance(n, ir.Call) and (n.start, n.end) == span
        )
        parts = {
            "callee": (node.func.start, node.func.end),
            "call": span,
            "arguments": (node.args_start, node.args_end),
        }
        args = tuple(self._argument(a, i) for i, a in enumerate(node.args) if not a.star)
        complete = not any(a.star for a in node.args)
        spelled = self.text[node.func.start : node.func.end]
        return ApiUse(
            span=span, statement=self._statement(span), name=name, spelled=spelled, via="call",
            args=args, parts=parts, complete=complete, **fields,
        )  # fmt: skip

    def use(self, piece: str, name: str, occurrence: int = 0) -> ApiUse:
        span = self.span(piece, occurrence)
        return ApiUse(span=span, statement=self._statement(span), name=name, spelled=piece, via="reference")

    def device(self, piece: str, occurrence: int = 0, **fields: Any) -> DeviceChoice:
        span = self.span(piece, occurrence)
        told = {"via": "literal", "device": "cuda", "position": "to", "result": "device", **fields}
        return DeviceChoice(span=span, statement=self._statement(span), **told)

    def selection(self, piece: str, **fields: Any) -> DeviceChoice:
        return self.device(
            piece,
            **{
                "via": "selection",
                "form": "ternary",
                "fallback": "cpu",
                "position": "",
                "parts": {"availability": (0, 0)},
                **fields,
            },
        )

    def draft(self, strategy: str, fact: Fact, **options: Any) -> Draft | None:
        try:
            return STRATEGIES[strategy](fact, options, self.context)
        except FixDeclined:
            return None

    def fixed(self, strategy: str, fact: Fact, **options: Any) -> str | None:
        """The text after the fix; None when the strategy holds back. The result has to parse."""
        draft = self.draft(strategy, fact, **options)
        if draft is None:
            return None
        text = apply_edits(self.text, draft.edits)
        module_from_text(text)
        return text

    def _statement(self, span: tuple[int, int]) -> tuple[int, int]:
        around = [
            n
            for n in ir.walk(self.context.module)
            if isinstance(n, ir.Stmt) and n.start <= span[0] and span[1] <= n.end
        ]
        return (around[-1].start, around[-1].end) if around else span

    def _argument(self, arg: ir.Arg, position: int) -> Argument:
        value = Value("expression", self.text[arg.value.start : arg.value.end])
        if isinstance(arg.value, ir.Const) and not isinstance(arg.value.value, bytes | complex):
            value = Value("constant", arg.value.value)
        return Argument(
            arg.keyword or str(position), value, (arg.start, arg.end), (arg.value.start, arg.value.end),
            (arg.cut_start, arg.cut_end), arg.keyword is not None,
        )  # fmt: skip


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Page]:
    """Makes a page of a loose script in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def make(
        text: str,
        filename: str = "train.py",
        package_root: Path | None = None,
        home: Scope | None = LOOSE,
        **settings: Any,
    ) -> Page:
        if package_root is not None:
            home = Scope(package_root, f"{package_root.name}.")
        return Page(text, filename, package_root, home, **settings)

    return make


@pytest.fixture
def finding() -> Callable[..., Finding]:
    def make(fix: Fix | None, code: str = "XLA002", source: SourceText | None = None) -> Finding:
        place = (source or SourceText("train.py", "")).range(0, 0)
        return Finding(
            code, "name", "error", "error", "once", "certain", "torch_xla", "message", "train.py", None,
            place, Effort("trivial", "site", code), "fingerprint", "url", fix=fix,
        )  # fmt: skip

    return make


@dataclass
class Row:
    strategy: str
    applicability: str = "safe"
    style: str | None = None
    requires: tuple[str, ...] = ()
    title: str | None = None
    options: Options = field(default_factory=dict)


@dataclass
class Judgement:
    finding: Finding
    fact: Fact
    fixes: tuple[Row, ...]


@pytest.fixture
def judged(finding: Callable[..., Finding]) -> Callable[..., Judgement]:
    def make(fact: Fact, *rows: dict[str, Any]) -> Judgement:
        return Judgement(finding(None), fact, tuple(Row(**row) for row in rows))

    return make
