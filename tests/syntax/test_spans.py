from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import libcst as cst
import pytest
from generated_code import modules
from hypothesis import given, settings
from libcst.metadata import MetadataWrapper, PositionProvider
from nasty_sources import nasty, stdlib

from xlamig import ir
from xlamig.findings import Location
from xlamig.source.text import SourceText
from xlamig.syntax.build import build_module
from xlamig.syntax.errors import Unparsable
from xlamig.syntax.parse import parse
from xlamig.syntax.spans import record_spans

SOURCES = {**nasty(), **stdlib()}

# Which LibCST nodes an IR node may come from. Const, Name and Call also stand for patterns.
FROM: dict[type[ir.Node], tuple[type[cst.CSTNode], ...]] = {
    ir.Name: (cst.Name, cst.MatchAs),
    ir.Attribute: (cst.Attribute,),
    ir.Const: (cst.BaseExpression, cst.MatchAs, cst.MatchStar),
    ir.FString: (cst.FormattedString, cst.ConcatenatedString),
    ir.Arg: (cst.Arg, cst.MatchKeywordElement, cst.MatchPattern),
    ir.Call: (cst.Call, cst.MatchClass),
    ir.Subscript: (cst.Subscript,),
    ir.Slice: (cst.Slice,),
    ir.Unary: (cst.UnaryOperation,),
    ir.Binary: (cst.BinaryOperation,),
    ir.Bool: (cst.BooleanOperation, cst.MatchOr),
    ir.Compare: (cst.Comparison,),
    ir.IfExp: (cst.IfExp,),
    ir.Sequence: (cst.Tuple, cst.List, cst.Set, cst.MatchSequence),
    ir.Dict: (cst.Dict, cst.MatchMapping),
    ir.BigLiteral: (cst.Tuple, cst.List, cst.Set, cst.Dict, cst.Integer),
    ir.Starred: (cst.StarredElement, cst.Index),
    ir.Lambda: (cst.Lambda,),
    ir.Generator: (cst.CompFor,),
    ir.Comprehension: (cst.BaseComp,),
    ir.Await: (cst.Await,),
    ir.Yield: (cst.Yield,),
    ir.Walrus: (cst.NamedExpr,),
    ir.Assign: (cst.Assign, cst.TypeAlias),
    ir.ExprStmt: (cst.Expr,),
    ir.Jump: (cst.Pass, cst.Break, cst.Continue),
    ir.Scoping: (cst.Global, cst.Nonlocal),
    ir.Delete: (cst.Del,),
    ir.AugAssign: (cst.AugAssign,),
    ir.AnnAssign: (cst.AnnAssign,),
    ir.Return: (cst.Return,),
    ir.Raise: (cst.Raise,),
    ir.Assert: (cst.Assert,),
    ir.Import: (cst.Import,),
    ir.ImportFrom: (cst.ImportFrom,),
    ir.If: (cst.If,),
    ir.For: (cst.For,),
    ir.While: (cst.While,),
    ir.WithItem: (cst.WithItem,),
    ir.With: (cst.With,),
    ir.Handler: (cst.ExceptHandler, cst.ExceptStarHandler),
    ir.Try: (cst.Try, cst.TryStar),
    ir.Case: (cst.MatchCase,),
    ir.Match: (cst.Match,),
    ir.FunctionDef: (cst.FunctionDef,),
    ir.ClassDef: (cst.ClassDef,),
}

# Nobody asks for the places of these.
WITHOUT_PLACE = (cst.Module, cst.SimpleWhitespace, cst.Newline, cst.TrailingWhitespace)

# Forms that occur once in the IR for each time they are written.
FAITHFUL = (ir.Lambda, ir.Await, ir.Yield, ir.Walrus, ir.Compare, ir.IfExp, ir.Subscript, ir.Comprehension)


class Parsed:
    """One text with its tree, its IR and what LibCST itself says about places."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        self.spans = record_spans(self.tree, text)
        self.module = build_module(self.tree, self.spans, text)
        # LibCST puts what follows a missing last newline behind the newline it imagines.
        source = SourceText("a.py", text + self.tree.default_newline)
        metadata = MetadataWrapper(self.tree, unsafe_skip_copy=True).resolve(PositionProvider)
        self.places = {
            node: (
                source.offset(Location(place.start.line, place.start.column + 1)),
                source.offset(Location(place.end.line, place.end.column + 1)),
            )
            for node, place in metadata.items()
        }

    def nodes(self) -> Iterator[ir.Node]:
        return (node for node in ir.walk(self.module) if node is not self.module)


_parsed: dict[str, Parsed] = {}


@pytest.fixture(params=SOURCES, ids=lambda name: repr(name)[:60])
def parsed(request: pytest.FixtureRequest) -> Parsed:
    if request.param not in _parsed:
        _parsed[request.param] = Parsed(SOURCES[request.param])
    return _parsed[request.param]


def check_recorded(parsed: Parsed) -> None:
    for node, place in parsed.places.items():
        if not isinstance(node, WITHOUT_PLACE):
            assert parsed.spans[id(node)] == place, node


def check_nodes(parsed: Parsed) -> None:
    """Every IR node has exactly the place of a LibCST node that it may come from."""
    known = {(place, kind) for node, place in parsed.places.items() for kind in type(node).__mro__}
    for node in parsed.nodes():
        if not isinstance(node, ir.Alias | ir.Param | ir.Arg):  # these leave out commas and stars
            places = [((node.start, node.end), kind) for kind in FROM[type(node)]]
            assert known.intersection(places), node


def check_faithful(parsed: Parsed) -> None:
    """No expression is lost, and none is made up."""
    for kind in FAITHFUL:
        written = Counter(place for node, place in parsed.places.items() if isinstance(node, FROM[kind]))
        built = Counter((node.start, node.end) for node in parsed.nodes() if type(node) is kind)
        assert built == written, kind


def check_texts(parsed: Parsed) -> None:
    text = parsed.text
    for node in parsed.nodes():
        piece = text[node.start : node.end]
        match node:
            case ir.Name():
                assert piece == node.id
            case ir.Attribute():
                assert text[node.attr_start : node.end] == node.attr
            case ir.Alias(name="*") | ir.Const(value=None):
                assert piece[0] in "*N_"
            case ir.Const():
                assert eval(f"({piece}\n)") == node.value
            case ir.Alias():
                assert text[node.asname_start : node.end] == (node.asname or piece)
            case ir.FunctionDef() | ir.ClassDef():
                assert text.startswith(node.name, node.name_start)
            case ir.Param():
                assert piece.startswith(node.name)
            case ir.Arg():
                assert piece.startswith(node.keyword or node.star)
            case ir.Call():
                assert text[node.args_start - 1] == "(" and text[node.args_end] == ")"
                assert expression(f"f({text[node.args_start : node.args_end]}\n)")


def arguments(call: ast.expr) -> list[str]:
    assert isinstance(call, ast.Call)
    given: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    ordered = sorted(given, key=lambda arg: (arg.lineno, arg.col_offset))
    return [ast.dump(arg) for arg in ordered]


def check_cuts(parsed: Parsed) -> None:
    """Deleting an argument's cut leaves the same call without it."""
    text = parsed.text
    for call in parsed.nodes():
        if not isinstance(call, ir.Call) or not call.args:
            continue
        before = arguments(expression(text[call.start : call.end]))
        for i, arg in enumerate(call.args):
            assert call.start < arg.cut_start <= arg.start <= arg.end <= arg.cut_end < call.end
            without = text[call.start : arg.cut_start] + text[arg.cut_end : call.end]
            assert arguments(expression(without)) == before[:i] + before[i + 1 :], without


def expression(text: str) -> ast.expr:
    return ast.parse(f"({text}\n)", mode="eval").body


def test_recorded_spans_are_those_of_the_position_provider(parsed: Parsed) -> None:
    check_recorded(parsed)


def test_nodes_stand_where_libcst_says(parsed: Parsed) -> None:
    check_nodes(parsed)


def test_no_expression_is_lost(parsed: Parsed) -> None:
    check_faithful(parsed)


def test_spans_hold_the_text_of_values(parsed: Parsed) -> None:
    check_texts(parsed)


def test_cutting_an_argument_leaves_a_call(parsed: Parsed) -> None:
    check_cuts(parsed)


@pytest.mark.slow
@settings(max_examples=40)
@given(modules())
def test_all_of_it_for_generated_code(text: str) -> None:
    parsed = Parsed(text)
    for check in (check_recorded, check_nodes, check_faithful, check_texts, check_cuts):
        check(parsed)


def test_a_tree_that_is_not_the_text_is_refused() -> None:
    with pytest.raises(Unparsable):
        record_spans(parse("a = 1\n"), "a = 10\n")
