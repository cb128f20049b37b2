"""Writes fixed files so that at any moment a file is either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from xlamig.config.paths import leaves_repository


class WriteError(Exception):
    """A file could not be written; the message is one line and the old file is intact."""


def write_files(changes: Mapping[Path, bytes], creates: Mapping[Path, bytes] | None = None) -> None:
    """Write `creates`, which no other file may stand in the way of, then `changes`.

    Everything is staged beside its target before the first file is replaced, so that a full disk
    or a read-only folder leaves nothing half done.
    """
    staged: list[tuple[Path, Path]] = []
    created: list[Path] = []
    changed = False
    try:
        new = {p: content for p, content in (creates or {}).items() if not _holds(p, content)}
        for path, content in (*new.items(), *changes.items()):
            staged.append(_stage(path, content))
        for number, (temporary, target) in enumerate(staged):
            _replace(temporary, target)
            if number < len(new):
                created.append(target)
            else:
                changed = True
    except WriteError:
        if not changed:  # once a file is changed it may rely on what was created
            for path in created:
                path.unlink(missing_ok=True)
        raise
    finally:
        for temporary, _ in staged:
            temporary.unlink(missing_ok=True)


def _holds(path: Path, content: bytes) -> bool:
    """`path` is there with this content already; something else there is an error."""
    try:
        if path.read_bytes() == content:
            return True
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _write_error(path, error) from error
    raise WriteError(f"{path}: exists already")


def _stage(path: Path, content: bytes) -> tuple[Path, Path]:
    """Write `content` to a temporary file next to the real target; returns (temporary, target)."""
    temporary: Path | None = None
    try:
        if path.is_symlink() and leaves_repository(path):
            raise WriteError(
                f"{path}: not written: the link leads out of its repository; name the file itself"
            )
        target = path.resolve(strict=False)
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        if mode is not None and not os.access(target, os.W_OK):
            raise PermissionError(13, "file is read-only")
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
        temporary = Path(name)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode if mode is not None else _new_file_mode())
        return temporary, target
    except (OSError, RuntimeError) as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
        raise _write_error(path, error) from error


def _replace(temporary: Path, target: Path) -> None:
    try:
        temporary.replace(target)
    except OSError as error:
        raise _write_error(target, error) from error


def _write_error(path: Path, error: Exception) -> WriteError:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return WriteError(f"{path}: cannot write: {' '.join(reason.split())}")


def _new_file_mode() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
