"""A StableHLO module: read from any form, and told which arguments are donated and how they are sharded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

_BYTECODE, _ARTIFACT = b"ML\xefR", b"StableHLO_v"


def parse(context: Any, code: bytes) -> Any:
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo

    if code.startswith(_BYTECODE) and _ARTIFACT in code[:64]:
        module = hlo.deserialize_portable_artifact(context, code)
    else:
        module = ir.Module.parse(code if code.startswith(_BYTECODE) else code.decode())
    _inline_composites(module)
    return module


def annotate(module: Any, arguments: Sequence[dict[str, Any]], results: Sequence[dict[str, Any]]) -> None:
    """Adds `output` and `sharding` of each argument, and `sharding` of each result, to the entry function."""
    from jax._src.lib.mlir import ir

    main = next(one for one in module.body.operations if str(getattr(one, "name", "")) == '"main"')
    with module.context:
        number = ir.IntegerType.get_signless(32)

        def told(one: dict[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            if one.get("output") is not None:
                found["tf.aliasing_output"] = ir.IntegerAttr.get(number, one["output"])
            if one.get("sharding"):
                found["mhlo.sharding"] = ir.StringAttr.get(one["sharding"])
            return found

        for kind, given, types in (
            ("arg_attrs", arguments, main.type.inputs),
            ("res_attrs", results, main.type.results),
        ):
            if given and len(given) == len(types):
                main.attributes[kind] = ir.ArrayAttr.get([ir.DictAttr.get(told(one)) for one in given])


def _inline_composites(module: Any) -> None:
    """Some are newer than libtpu's StableHLO: each is replaced by a call of its decomposition."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import func

    for old in list(_composites(module.operation)):
        name = ir.FlatSymbolRefAttr(old.attributes["decomposition"]).value
        with ir.InsertionPoint(old), old.location:
            call = func.CallOp([one.type for one in old.results], name, list(old.operands))
        for before, after in zip(old.results, call.results, strict=True):
            before.replace_all_uses_with(after)
        old.erase()


def _composites(operation: Any) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            for one in block.operations:
                yield from _composites(one.operation)
                if one.operation.name == "stablehlo.composite":
                    yield one.operation
