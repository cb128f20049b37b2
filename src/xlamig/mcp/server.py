"""The tools as a server of the official Python SDK."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from threading import Lock
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from xlamig import __version__
from xlamig.config.errors import ConfigError
from xlamig.engine import UsageError
from xlamig.engine.workers import start_cleanly
from xlamig.mcp.roots import Refused, Roots
from xlamig.mcp.tools import Tools
from xlamig.rulebook import RulebookError

_ABOUT = (
    "xlamig finds what stands between PyTorch GPU code and a TPU. Start with `plan` for an ordered list of "
    "tasks, `check` for findings, `explain` for a rule's page, and `fix` for a diff. Lists are paged: pass "
    "`next_offset` as `offset`."
)


def make_server(folders: Sequence[Path], writable: bool = False) -> MCPServer[Any]:
    """A server over these folders. The working directory becomes the first: names are relative to it."""
    roots = Roots.of(folders, writable)
    os.chdir(roots.folders[0])
    server: MCPServer[Any] = MCPServer("xlamig", version=__version__, instructions=_ABOUT, log_level="ERROR")
    lock = Lock()
    for tool in Tools(roots).all:
        server.add_tool(_guard(tool, lock), name=tool.__name__)
    return server


def serve(folders: Sequence[Path], writable: bool) -> None:
    """Answer over stdin and stdout until the client leaves."""
    start_cleanly()
    make_server(folders, writable).run()


def _guard(tool: Callable[..., dict[str, Any]], lock: Lock) -> Callable[..., dict[str, Any]]:
    """Run one call at a time; report what the agent can mend in one sentence."""

    @wraps(tool)
    def guarded(*args: Any, **kwargs: Any) -> dict[str, Any]:
        try:
            with lock:
                return tool(*args, **kwargs)
        except (Refused, UsageError, ConfigError, RulebookError) as error:
            raise ToolError(str(error)) from None
        except OSError as error:
            raise ToolError(f"{error.filename or 'the file'}: {error.strerror}") from None

    return guarded
