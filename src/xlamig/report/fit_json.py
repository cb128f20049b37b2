"""A fit for programs. The schema is docs/schemas/fit.schema.json."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from xlamig.fits import CAVEAT, ROLES, Compiled, Fit, Graph, GraphFit, Place
from xlamig.knowledge.aten import is_client_only
from xlamig.observations import Spot
from xlamig.report.trace_words import relative

SCHEMA_VERSION = 1


def render(fit: Fit) -> str:
    return json.dumps(document(fit), indent=2)


def document(fit: Fit) -> dict[str, Any]:
    capture = fit.capture
    return {
        "schema_version": SCHEMA_VERSION,
        "caveat": CAVEAT,
        "program": fit.program,
        "torch_xla": capture.torch_xla,
        "compiler": fit.compiler,
        "steps": capture.steps,
        "distinct_steps": capture.distinct,
        "graphs": [_graph(one) for one in fit.graphs],
        "largest_batch": [asdict(one) for one in fit.largest],
        "stand_ins": [{**_spot(spot), "count": count} for spot, count in capture.reads],
        "cpu_operators": [
            {**_spot(spot), "operator": name, "count": count, "client_only": is_client_only(name)}
            for spot, name, count in capture.fallbacks
        ],
        "redirected": dict(capture.redirected),
    }


def _graph(found: GraphFit) -> dict[str, Any]:
    graph = found.graph
    return {
        "kind": graph.kind,
        **_spot(graph.spot),
        "count": graph.count,
        "batch": found.batch,
        "arguments": _arguments(graph),
        "inputs": [
            {"shape": list(one.shape), "dtype": one.dtype} for one in graph.arguments if one.role == "input"
        ],
        "results": [_compiled_document(one) for one in found.compiled],
    }


def _arguments(graph: Graph) -> dict[str, Any]:
    return {
        "count": len(graph.arguments),
        "donated": sum(one.output is not None for one in graph.arguments),
        "bytes": sum(one.bytes for one in graph.arguments),
        "by_role": {role: graph.bytes_of(role) for role in ROLES},
    }


def _compiled_document(one: Compiled) -> dict[str, Any]:
    return {
        "chip": one.chip,
        "chips": one.chips,
        "devices": one.devices,
        "layout": one.layout,
        "fits": one.fits,
        "available": one.available,
        "flops": one.flops,
        "compiler_flops": one.compiler_flops,
        "bytes": one.bytes,
        "intensity": one.intensity,
        "bound": one.bound,
        "limit": one.limit,
        "compile_seconds": one.seconds,
        "memory": one.memory and asdict(one.memory),
        "buffers": [
            {"bytes": each.bytes, "shape": each.shape, "name": each.name, **_place(each.place)}
            for each in one.buffers
        ],
        "matmuls": [
            {name: getattr(each, name) for name in ("m", "k", "n", "count", "flops", "fill")}
            | _place(each.place)
            for each in one.matmuls
        ],
        "collectives": [asdict(each) for each in one.collectives],
        "problem": one.problem
        and {"kind": one.problem.kind, "message": one.problem.message, "needed": one.problem.needed}
        | _place(one.problem.place),
    }


def _spot(spot: Spot | None) -> dict[str, Any]:
    if spot is None:
        return {"filename": None, "location": None}
    return {"filename": relative(spot.filename), "location": {"row": spot.row, "column": spot.column}}


def _place(place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"filename": None, "row": None, "backward": False}
    return {"filename": relative(place.filename), "row": place.row, "backward": place.backward}
