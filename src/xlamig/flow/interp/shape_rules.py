"""Shape rules: the shape of an operator's result, by those of its operands and its numbers.

`knowledge/data/results.json` names the rule of each operator. A rule returns None where the arguments do
not say the rank; it never raises, whatever the arguments are.
"""

from __future__ import annotations

from xlamig.flow.interp.domain.shapes import UNKNOWN, Dimension, Shape, broadcast, element_count
from xlamig.flow.interp.operands import Number, Operands
from xlamig.flow.interp.shape_products import PRODUCTS
from xlamig.flow.interp.shape_table import RULES, rule


def shape_of(name: str, operands: Operands) -> Shape:
    """Return the shape that a rule gives; None for no rule, or one that depends on what is not known."""
    found = RULES.get(name)
    if found is None or (operands.partial and name not in _OF_TENSORS_ALONE):
        return None
    return found(operands)


# ---------------------------------------------------------------------- by the tensors alone


@rule("scalar")
def _scalar(_: Operands) -> Shape:
    return ()


@rule("same")
def _same(given: Operands) -> Shape:
    return given.first


@rule("rank")
def _rank(given: Operands) -> Shape:
    """Return as many dimensions as the first tensor has, of sizes that are not known."""
    return None if given.first is None else (UNKNOWN,) * len(given.first)


@rule("broadcast")
def _all(given: Operands) -> Shape:
    return broadcast(given.tensors) if given.tensors else None


@rule("second")
def _second(given: Operands) -> Shape:
    return given.tensors[1] if len(given.tensors) > 1 else None


@rule("transpose-last")
def _t(given: Operands) -> Shape:
    shape = given.first
    return None if shape is None else shape if len(shape) < 2 else (*shape[:-2], shape[-1], shape[-2])


_OF_TENSORS_ALONE = PRODUCTS | RULES.keys()

# ---------------------------------------------------------------------- by dimensions


def _dims(value: Number, rank: int) -> frozenset[int] | None:
    """Return dimensions counted from the first; None for what is no dimension of this rank."""
    given = value if isinstance(value, tuple) else (value,)
    found: set[int] = set()
    for dim in given:
        if isinstance(dim, bool) or not isinstance(dim, int) or not -max(rank, 1) <= dim < max(rank, 1):
            return None
        found.add(dim % max(rank, 1))
    return frozenset(found)


@rule("reduce")
def _reduce(given: Operands) -> Shape:
    """Return the shape of `sum`: it reduces all dimensions unless some are given."""
    return _reduced(given, given.dim)


@rule("reduce-or-broadcast")
def _max(given: Operands) -> Shape:
    """Return the shape of `max`: of two tensors, element by element."""
    return broadcast(given.tensors) if len(given.tensors) > 1 else _reduce(given)


@rule("loss")
def _loss(given: Operands) -> Shape:
    """Return the shape of a loss: a number unless `reduction` is "none"."""
    reduction = given.numbers.get("reduction", "mean")
    return () if reduction in ("mean", "sum") else None


@rule("reduce-last")
def _reduce_last(given: Operands) -> Shape:
    """Return the shape of `kthvalue`: it reduces the last dimension unless one is given."""
    return _reduced(given, -1 if given.dim is None else given.dim)


def _reduced(given: Operands, dim: Number) -> Shape:
    shape = given.first
    keep = given.keepdim
    if dim is None or dim == ():
        if keep and shape is None:
            return None
        return (1,) * len(shape) if keep and shape is not None else ()
    if shape is None:
        return None
    gone = _dims(dim, len(shape))
    if gone is None:
        return None
    return tuple(1 if i in gone else size for i, size in enumerate(shape) if keep or i not in gone)


@rule("transpose")
def _transpose(given: Operands) -> Shape:
    shape = given.first
    one, other = given.number("dim0", "axis0"), given.number("dim1", "axis1")
    if shape is None or not isinstance(one, int) or not isinstance(other, int):
        return None
    if _dims((one, other), len(shape)) is None or not shape:
        return None if shape else ()
    sizes = list(shape)
    sizes[one], sizes[other] = sizes[other], sizes[one]
    return tuple(sizes)


@rule("permute")
def _permute(given: Operands) -> Shape:
    shape, dims = given.first, given.sizes("dims")
    if shape is None or not isinstance(dims, tuple) or len(dims) != len(shape):
        return None
    chosen = [dim for dim in dims if isinstance(dim, int) and -len(shape) <= dim < len(shape)]
    return tuple(shape[dim] for dim in chosen) if len(chosen) == len(shape) else None


@rule("unsqueeze")
def _unsqueeze(given: Operands) -> Shape:
    shape, dim = given.first, given.number("dim")
    if shape is None or not isinstance(dim, int) or not -len(shape) - 1 <= dim <= len(shape):
        return None
    at = dim % (len(shape) + 1)
    return (*shape[:at], 1, *shape[at:])


@rule("squeeze")
def _squeeze(given: Operands) -> Shape:
    shape, dim = given.first, given.dim
    if shape is None:
        return None
    gone = frozenset(range(len(shape))) if dim is None else _dims(dim, len(shape))
    if gone is None or any(not isinstance(shape[i], int) for i in gone if shape):
        return None
    return tuple(size for i, size in enumerate(shape) if i not in gone or size != 1)


@rule("flatten")
def _flatten(given: Operands) -> Shape:
    shape = given.first
    start = given.number("start_dim") if given.named("start_dim") else given.dim
    end = given.number("end_dim") if given.named("end_dim") else given.unnamed(1)
    first, last = 0 if start is None else start, -1 if end is None else end
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    unknown = (UNKNOWN,) * (first + 1) if last == -1 and first > 0 else None
    if shape is None or (not shape and first > 0):
        return unknown
    if not shape:
        return (1,)
    if _dims((first, last), len(shape)) is None or first % len(shape) > last % len(shape):
        return unknown
    first, last = first % len(shape), last % len(shape)
    return (*shape[:first], element_count(shape[first : last + 1]), *shape[last + 1 :])


@rule("ravel")
def _ravel(given: Operands) -> Shape:
    return None if given.first is None else (element_count(given.first),)


@rule("select")
def _select(given: Operands) -> Shape:
    shape, dim = given.first, given.number("dim")
    gone = None if shape is None else _dims(dim, len(shape))
    return None if shape is None or gone is None else tuple(s for i, s in enumerate(shape) if i not in gone)


# ---------------------------------------------------------------------- by sizes


@rule("sized")
def _sized(given: Operands) -> Shape:
    """Return the shape of `zeros`: the given size."""
    sizes = given.sizes("size", "shape")
    return None if sizes is None else tuple(s if type(s) is int else UNKNOWN for s in sizes)


@rule("vector")
def _vector(given: Operands) -> Shape:
    """Return the shape of `arange`: one dimension."""
    return (UNKNOWN,)


@rule("data")
def _data(given: Operands) -> Shape:
    """Return the shape of `tensor`: the lengths of nested sequences."""
    if not given.named("data", "*"):
        return given.first
    data, sizes = given.numbers.get("data", given.numbers.get("*")), []
    while isinstance(data, tuple):
        sizes.append(len(data))
        if not data:
            break
        data = data[0]
    return tuple(sizes)


@rule("view")
def _view(given: Operands) -> Shape:
    size = given.sizes("shape", "size")
    if size is None:
        return None
    rest = [i for i, s in enumerate(size) if s == -1]
    made: list[Dimension] = [s if type(s) is int else UNKNOWN for s in size]
    if len(rest) == 1:
        whole = element_count(given.first) if given.first is not None else UNKNOWN
        others = element_count(tuple(s for i, s in enumerate(made) if i != rest[0]))
        exact = isinstance(whole, int) and isinstance(others, int) and others > 0
        made[rest[0]] = whole // others if exact else UNKNOWN  # type: ignore[operator]
    return tuple(made)


@rule("expand")
def _expand(given: Operands) -> Shape:
    shape, size = given.first, given.sizes("size")
    if shape is None or size is None or len(size) < len(shape):
        return None
    own: tuple[Dimension, ...] = (*(1,) * (len(size) - len(shape)), *shape)
    return tuple(o if s == -1 else s if type(s) is int else UNKNOWN for o, s in zip(own, size, strict=True))


@rule("cat")
def _cat(given: Operands) -> Shape:
    """Return the shape of joined tensors: only the dimension along which they are joined differs."""
    dim = given.number("dim", "axis")
    at = 0 if dim is None else dim
    shapes = [shape for shape in given.tensors if shape is not None and shape != (0,)]
    if not shapes or len(shapes) < sum(shape != (0,) for shape in given.tensors):
        return None
    rank = len(shapes[0])
    if not isinstance(at, int) or not -rank <= at < rank or any(len(s) != rank for s in shapes):
        return None
    sizes = [shape[at] for shape in shapes]
    whole = sum(s for s in sizes if isinstance(s, int)) if all(type(s) is int for s in sizes) else UNKNOWN
    return tuple(whole if i == at % rank else size for i, size in enumerate(shapes[0]))


@rule("stack")
def _stack(given: Operands) -> Shape:
    shape, dim = given.first, given.number("dim")
    at = 0 if dim is None else dim
    if shape is None or not isinstance(at, int) or not -len(shape) - 1 <= at <= len(shape):
        return None
    at %= len(shape) + 1
    return (*shape[:at], len(given.tensors), *shape[at:])


@rule("embedding")
def _embedding(given: Operands) -> Shape:
    return None if given.pair is None else (*given.pair[0], *given.pair[1][1:])
