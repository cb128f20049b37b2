"""A few worker processes that share the cost of importing torch_xla."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORKER = Path(__file__).with_name("worker.py")
TIMEOUT = 900  # seconds for one program: a hang, whatever else the machine does


class NoTorchXla(Exception):
    pass


@dataclass(frozen=True)
class Request:
    path: Path
    calls: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    trace: bool = False
    xla: bool = True


class _Worker:
    def __init__(self, python: str, xla: bool) -> None:
        environment = {key: value for key, value in os.environ.items() if key != "PJRT_DEVICE"}
        self.process = subprocess.Popen(
            [python, str(WORKER), *(() if xla else ("--without-xla",))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environment, "PJRT_DEVICE": "CPU"} if xla else environment,
        )
        ready = self._read()
        if not ready.get("ready"):
            raise NoTorchXla(
                f"{python} cannot import {'torch_xla' if xla else 'torch'}: {ready.get('reason')}. Install "
                "xlamig[xla], name another interpreter in XLAMIG_XLA_PYTHON, or set XLAMIG_NO_EVIDENCE=1 "
                "to go without the evidence."
            )

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"crashed": "the worker died", "reason": "it died"}

    def run(self, request: Request) -> dict[str, Any]:
        assert self.process.stdin is not None
        line = {
            "path": str(request.path),
            "calls": request.calls,
            "args": request.args,
            "trace": request.trace,
            "timeout": TIMEOUT,
        }
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return self._read()

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class Pool:
    """Runs programs ahead of the tests that ask for them; a worker starts when it is first needed."""

    def __init__(self, size: int = 2, python: str | None = None) -> None:
        self._python = python or os.environ.get("XLAMIG_XLA_PYTHON") or sys.executable
        self._threads = ThreadPoolExecutor(size)
        self._idle: dict[bool, queue.SimpleQueue[_Worker]] = {
            True: queue.SimpleQueue(),
            False: queue.SimpleQueue(),
        }
        self._started: list[_Worker] = []
        self._outcomes: dict[Request, Future[dict[str, Any]]] = {}

    def prefetch(self, requests: Sequence[Request]) -> None:
        for request in requests:
            if request not in self._outcomes:
                self._outcomes[request] = self._threads.submit(self._run, request)

    def outcome(self, request: Request) -> dict[str, Any]:
        self.prefetch([request])
        return self._outcomes[request].result()

    def again(self, request: Request) -> dict[str, Any]:
        del self._outcomes[request]
        return self.outcome(request)

    def _run(self, request: Request) -> dict[str, Any]:
        idle = self._idle[request.xla]
        try:
            worker = idle.get_nowait()
        except queue.Empty:
            worker = _Worker(self._python, request.xla)
            self._started.append(worker)
        answer = worker.run(request)
        idle.put(worker)
        return answer

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for worker in self._started:
            worker.close()
