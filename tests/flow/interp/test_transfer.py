"""Transfer functions one by one: values in, a value and effects out, with no program around them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from xlamig import ir, syntax
from xlamig.facts import Interest
from xlamig.flow.interp.arguments import Args
from xlamig.flow.interp.costs import Costs
from xlamig.flow.interp.domain import NUMBER, TOP, AbstractValue, sequence
from xlamig.flow.interp.libraries import Libraries
from xlamig.flow.interp.moves import Moves
from xlamig.flow.interp.operators import Operators
from xlamig.flow.interp.reads import Reads
from xlamig.flow.interp.semantics import Semantics
from xlamig.flow.interp.sizes import Sizes
from xlamig.flow.interp.state import State
from xlamig.flow.interp.tensors import Tensors
from xlamig.flow.model.effects import Effect
from xlamig.flow.model.names import Names
from xlamig.flow.model.project import ProjectIndex
from xlamig.flow.model.regions import Regions
from xlamig.flow.model.scopes import ScopeTable
from xlamig.flow.model.site import Analysis
from xlamig.flow.model.values import Values

DEVICE, HOST = (AbstractValue("tensor", place) for place in ("device", "host"))


class Known:
    """The semantics of names: each stands for one value."""

    def __init__(self, **values: AbstractValue) -> None:
        self.values = values

    def evaluate(self, node: ir.Expr) -> AbstractValue:
        return self.values[node.id] if isinstance(node, ir.Name) else TOP

    def test(self, node: ir.Expr, word: str) -> AbstractValue:
        return self.evaluate(node)


def expression(text: str) -> ir.Expr:
    statement = syntax.module_from_text(text).body[0]
    assert isinstance(statement, ir.ExprStmt)
    return statement.value


def state_with(**values: AbstractValue) -> State:
    names = Names(Interest(), ProjectIndex({}), "m")
    module = syntax.module_from_text("")
    analysis = Analysis(module, "", names, Values(names, ""), has_torch=True)
    state = State(analysis, ScopeTable(module, "", "m", False), Regions(analysis))
    state.semantics = cast(Semantics, Known(**values))
    return state


def tensors_of(state: State) -> Tensors:
    reads, sizes = Reads(state), Sizes(state)
    return Tensors(state, reads, Costs(state, reads, sizes), sizes, Moves(state))


def method(name: str, owner: AbstractValue, *given: AbstractValue) -> tuple[AbstractValue, State]:
    state = state_with()
    node = expression(f"x.{name}()")
    assert isinstance(node, ir.Call)
    return tensors_of(state).method(owner, name, Args(list(given)), node), state


def binary(op: str, left: AbstractValue, right: AbstractValue) -> tuple[AbstractValue, State]:
    state = state_with(a=left, b=right)
    node = expression(f"a {op} b")
    assert isinstance(node, ir.Binary)
    return Operators(state, Reads(state)).binary(node), state


@pytest.mark.parametrize("name", ["relu", "detach", "size", "numel"])
def test_no_read_of_a_tensor_on_the_device(name: str) -> None:
    _, state = method(name, DEVICE)
    assert Effect.READ not in state.effects.must


def test_no_read_of_a_tensor_on_the_host() -> None:
    result, state = method("item", HOST)
    assert result.kind == "number"
    assert not state.effects.must


def test_an_item_is_read() -> None:
    result, state = method("item", DEVICE)
    assert (result.kind, result.cause) == ("number", "read")
    assert state.effects.must == {Effect.READ, Effect.RESULT_READ}


def test_an_operation_queues_work_where_its_operands_are() -> None:
    result, state = method("relu", DEVICE)
    assert (result.kind, result.place) == ("tensor", "device")
    assert state.effects.must == {Effect.WORK}
    assert not method("relu", HOST)[1].effects.must


def test_a_reduction_of_all_dimensions_is_a_scalar() -> None:
    assert method("sum", DEVICE)[0].scalar
    assert not method("sum", DEVICE, NUMBER)[0].scalar


@pytest.mark.parametrize(
    ("left", "right", "place"), [(DEVICE, NUMBER, "device"), (HOST, NUMBER, "host"), (HOST, DEVICE, "device")]
)
def test_an_operator_runs_where_its_tensor_is(left: AbstractValue, right: AbstractValue, place: str) -> None:
    assert binary("+", left, right)[0].place == place
    assert binary("+", right, left)[0].place == place


def test_numbers_are_folded_without_effects() -> None:
    result, state = binary("+", AbstractValue("number", const=2), AbstractValue("number", const=3))
    assert result.const == 5
    assert not state.effects.must


def test_lists_are_joined_element_by_element() -> None:
    result: Any = binary("+", sequence((NUMBER,)), sequence((DEVICE, HOST)))[0]
    assert [item.kind for item in result.items] == ["number", "tensor", "tensor"]


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("apex.amp.scale_loss", (DEVICE, HOST), None),
        ("apex.amp.initialize", (DEVICE, HOST), (DEVICE, HOST)),
    ],
)
def test_some_functions_of_libraries_return_their_arguments(
    name: str, given: tuple[AbstractValue, ...], expected: tuple[AbstractValue, ...] | None
) -> None:
    state = state_with()
    libraries = Libraries(state, Reads(state), Sizes(state))
    call = expression("f()")
    assert isinstance(call, ir.Call)
    made = libraries.made(name, Args(list(given)), call)
    assert (made and made.items) == expected
