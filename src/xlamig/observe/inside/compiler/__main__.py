"""Reads a request from the file named first and writes the result to the file named second.

One process compiles one graph for one chip: libtpu ends the process on some inputs.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

_ENVIRONMENT = {
    "TPU_SKIP_MDS_QUERY": "1",  # else it asks a metadata server for a minute and a half
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "true",
    "JAX_PLATFORMS": "cpu",
    "TPU_STDERR_LOG_LEVEL": "3",
    "TPU_MIN_LOG_LEVEL": "3",
    "TPU_ACCELERATOR_TYPE": "none",
    "TPU_WORKER_HOSTNAMES": "localhost",
}
_SIZES = ("argument", "output", "temp", "alias", "generated_code")


def main(request: Path, result: Path) -> None:
    os.environ.update(_ENVIRONMENT)
    asked = json.loads(request.read_text(encoding="utf-8"))
    try:
        found = _compile(asked)
    except Exception as error:  # the compiler's own words are the result
        found = {"error": str(error), "type": type(error).__name__}
    result.write_text(json.dumps(found), encoding="utf-8")


def _compile(asked: dict[str, Any]) -> dict[str, Any]:
    import numpy
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax.experimental import topologies

    from . import module

    count = asked["devices"]
    devices = topologies.get_topology_desc(platform="tpu", topology_name=asked["topology"]).devices[:count]
    options = compiler.get_compile_options(
        num_replicas=1,
        num_partitions=count,
        device_assignment=numpy.array([[device.id for device in devices]]),
        env_options_overrides=asked["options"],
    )
    build = options.executable_build_options
    build.use_shardy_partitioner = False  # the shardings are GSPMD's
    # A result that the request leaves open stays where it is computed; by default each device gets all.
    build.allow_spmd_sharding_propagation_to_output = [not one for one in asked["results"]] or [False]
    with mlir.make_ir_context() as context:
        parsed = module.parse(context, Path(asked["module"]).read_bytes())
        module.annotate(parsed, asked["arguments"], asked["results"])
        started = time.monotonic()
        executable = devices[0].client.compile(parsed, xla_client.DeviceList(tuple(devices)), options)
    seconds = time.monotonic() - started
    costs = executable.cost_analysis() or {}
    memory = executable.get_compiled_memory_stats()
    return {
        "device": devices[0].device_kind,
        "seconds": seconds,
        "flops": costs.get("flops"),
        "bytes": costs.get("bytes accessed"),
        "memory": {name: getattr(memory, f"{name}_size_in_bytes") for name in _SIZES}
        | {"peak": memory.peak_memory_in_bytes},
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
