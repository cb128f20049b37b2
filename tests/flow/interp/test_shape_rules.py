"""Shape rules: what they must not say, what they say, and that torch's meta device agrees."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from xlamig.flow.interp.domain.shapes import UNKNOWN, Shape, Symbol, Varying, broadcast, join_shapes
from xlamig.flow.interp.operands import Number, Operands
from xlamig.flow.interp.shape_rules import RULES, shape_of
from xlamig.knowledge.results import _rows, result_of

N = Symbol("n")
RANDOM = Varying(frozenset({"random"}), ((1, 2),))
BATCH = Varying(frozenset({"batch"}), ((3, 4),))
VALUES: st.SearchStrategy[Number] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.just("none")),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)
ANY_SHAPES = st.one_of(
    st.none(), st.lists(st.sampled_from([0, 1, 2, 3, N, UNKNOWN, RANDOM]), max_size=4).map(tuple)
)
SIZES = st.lists(st.integers(1, 3), max_size=4).map(tuple)


@given(
    st.sampled_from(sorted(RULES)),
    st.lists(ANY_SHAPES, max_size=3),
    st.dictionaries(
        st.sampled_from(["dim", "keepdim", "dims", "size", "shape", "data", "*", "dim0", "dim1"]), VALUES
    ),
)
def test_a_rule_never_raises(rule: str, shapes: list[Shape], numbers: dict[str, Number]) -> None:
    found = RULES[rule](Operands(shapes, numbers))
    assert found is None or isinstance(found, tuple)


@pytest.mark.parametrize(
    ("rule", "shapes", "numbers"),
    [
        ("broadcast", [(2, 3), None], {}),
        ("reduce", [None], {"dim": 0}),
        ("reduce", [(2, 3)], {"dim": 2}),
        ("matmul", [(2, 3), None], {}),
        ("view", [(2, 3)], {}),
        ("cat", [(2, 3), None], {}),
        ("loss", [(2, 3)], {"reduction": "none"}),
        ("einsum", [(2, 3)], {"*": ("...i->...",)}),
        ("einsum", [(2, 3)], {"*": ("ij",)}),
        ("einsum", [(2, 3)], {}),
    ],
)
def test_says_nothing(rule: str, shapes: list[Shape], numbers: dict[str, Number]) -> None:
    assert shape_of(rule, Operands(shapes, numbers)) is None


def test_says_nothing_for_unknown_arguments() -> None:
    assert shape_of("reduce", Operands([(2, 3)], partial=True)) is None
    assert shape_of("same", Operands([(2, 3)], partial=True)) == (2, 3)


@pytest.mark.parametrize(
    ("rule", "shapes", "numbers", "expected"),
    [
        ("broadcast", [(N, 1), (3,)], {}, (N, 3)),
        ("broadcast", [(RANDOM, 4), ()], {}, (RANDOM, 4)),
        ("reduce", [(N, 3)], {}, ()),
        ("reduce", [None], {}, ()),
        ("reduce", [(N, 3)], {"*": (1,)}, (N,)),
        ("reduce", [(N, 3)], {"dim": -1, "keepdim": True}, (N, 1)),
        ("matmul", [(N, 2, 3), (3, 4)], {}, (N, 2, 4)),
        ("einsum", [None, (2, 3)], {"*": ("bij, pij -> bp",)}, (UNKNOWN, UNKNOWN)),
        ("einsum", [(2, 2)], {"equation": "ij->"}, ()),
        ("view", [(4, 6)], {"*": (2, -1)}, (2, 12)),
        ("view", [(N, 6)], {"*": (None, -1)}, (UNKNOWN, UNKNOWN)),
        ("sized", [], {"*": ((2, 3),)}, (2, 3)),
        ("cat", [(2, 3), (4, 3)], {}, (6, 3)),
        ("cat", [(N, 3), (4, 3)], {}, (UNKNOWN, 3)),
        ("data", [], {"data": ((1, 2, 3), (4, 5, 6))}, (2, 3)),
    ],
)
def test_says(rule: str, shapes: list[Shape], numbers: dict[str, Number], expected: Shape) -> None:
    assert shape_of(rule, Operands(shapes, numbers)) == expected


def test_the_join_of_varying_dimensions_keeps_all_causes() -> None:
    joined = join_shapes((RANDOM, 2), (BATCH, 3))
    assert joined == (Varying(frozenset({"random", "batch"}), ((1, 2), (3, 4))), UNKNOWN)


@given(ANY_SHAPES, ANY_SHAPES, ANY_SHAPES)
def test_the_join_of_shapes_is_a_lattice_join(one: Shape, two: Shape, three: Shape) -> None:
    assert join_shapes(one, one) == one
    assert join_shapes(one, two) == join_shapes(two, one)
    assert join_shapes(one, join_shapes(two, three)) == join_shapes(join_shapes(one, two), three)


def test_every_row_names_a_rule() -> None:
    assert {row.shape for row in _rows().values()} - {""} <= RULES.keys()


# ---------------------------------------------------------------------- against torch

ELEMENTWISE = sorted(name for name, row in _rows().items() if row.shape in ("same", "broadcast"))
REDUCTIONS = ["sum", "mean", "amax", "amin", "prod", "any", "all", "argmax", "logsumexp", "std", "norm"]


def result_shape(name: str, *args: Any, **kwargs: Any) -> tuple[int, ...] | None:
    """Return the shape of what torch returns; None if it raises, or returns no tensor."""
    import torch

    function: Any = torch
    for part in name.removeprefix("torch.").split("."):
        function = getattr(function, part, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = function(*args, **kwargs)
        except Exception:
            return None
    return tuple(result.shape) if isinstance(result, torch.Tensor) else None


@pytest.mark.evidence
@settings(max_examples=3)
@given(st.data())
def test_the_meta_device_agrees_on_elementwise_operators(data: st.DataObject) -> None:
    import torch

    one = data.draw(SIZES)
    other = tuple(
        data.draw(st.sampled_from([1, size])) for size in one[data.draw(st.integers(0, len(one))) :]
    )
    names = set()
    for name in ELEMENTWISE:
        for shapes in ([one], [one, other], [other, one], [one, other, one]):
            actual = result_shape(name, *(torch.empty(shape, device="meta") for shape in shapes))
            if actual is not None:
                names.add(name)
                assert shape_of(result_of(name).shape, Operands(shapes)) in (None, actual), f"{name}{shapes}"
    assert len(names) >= 300


@pytest.mark.evidence
@settings(max_examples=20)
@given(SIZES.filter(bool), st.sampled_from(REDUCTIONS), st.data(), st.booleans())
def test_torch_agrees_on_reductions(
    shape: tuple[int, ...], name: str, data: st.DataObject, keep: bool
) -> None:
    import torch

    dim = data.draw(st.integers(-len(shape), len(shape) - 1))
    # On the meta device, norm over a last dimension of size 1 keeps it; on the CPU it does not.
    actual = result_shape(f"torch.{name}", torch.ones(shape), dim=dim, keepdim=keep)
    said = shape_of(result_of(f"torch.{name}").shape, Operands([shape], {"dim": dim, "keepdim": keep}))
    assert actual is not None and said in (None, actual)


@pytest.mark.evidence
@settings(max_examples=30)
@given(SIZES.filter(bool), st.data())
def test_the_meta_device_agrees_on_views(shape: tuple[int, ...], data: st.DataObject) -> None:
    import torch

    x = torch.empty(shape, device="meta")
    dims = st.integers(-len(shape), len(shape) - 1)
    one, other, order = data.draw(dims), data.draw(dims), tuple(data.draw(st.permutations(range(len(shape)))))
    cases: list[tuple[str, torch.Tensor, dict[str, Number]]] = [
        ("unsqueeze", x.unsqueeze(one), {"dim": one}),
        ("squeeze", x.squeeze(one), {"dim": one}),
        ("transpose", x.transpose(one, other), {"dim0": one, "dim1": other}),
        ("permute", x.permute(order), {"dims": order}),
        ("flatten", x.flatten(), {}),
        ("view", x.view(-1), {"*": (-1,)}),
        ("stack", torch.stack([x], one), {"dim": one}),
        ("cat", torch.cat([x], one), {"dim": one}),
    ]
    for rule, result, numbers in cases:
        assert shape_of(rule, Operands([shape], numbers)) == tuple(result.shape), rule


def test_broadcast_of_nothing_is_a_scalar() -> None:
    assert broadcast(()) == ()
