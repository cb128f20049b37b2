"""Paths: absolute, shown, safe to read, safe to write."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path


def absolute(path: str | os.PathLike[str]) -> Path:
    """Absolute and without "..", but with symbolic links as the user wrote them."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def shown_path(path: Path) -> str:
    """A path for people: from the working directory where it lies below it."""
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


def read_regular(path: Path, most: int = -1, encoding: str = "utf-8", errors: str = "strict") -> str:
    """The first `most` characters of a file that the user did not name; all of them for -1.

    Raises:
        OSError: also for anything but a regular file: a pipe waits for a writer, a device has no end.
        UnicodeDecodeError: the file has another encoding.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    with path.open(encoding=encoding, errors=errors) as file:
        return file.read(most)


def users_cache() -> Path:
    """The user's folder for what can be computed again. Raises RuntimeError for a user without a home."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def may_keep(folder: Path, root: Path) -> bool:
    """Return whether what is checked may choose `folder` to keep results in: it lies in the repository of
    `root` or in the user's cache directory, links followed."""
    allowed = [_repository(root)]
    with suppress(RuntimeError):
        allowed.append(users_cache())
    try:
        place = folder.resolve()
        return any(place.is_relative_to(each.resolve()) for each in allowed)
    except (OSError, RuntimeError):  # links in a circle
        return False


def leaves_repository(link: Path) -> bool:
    """Return whether a symbolic link leads out of the repository that it lies in; without one, out of its
    folder."""
    return not link.resolve().is_relative_to(_repository(link.parent.resolve()))


def _repository(folder: Path) -> Path:
    """The closest repository around a folder; the folder itself outside of any."""
    around = (each for each in (folder, *folder.parents) if (each / ".git").exists())
    return next(around, folder)
