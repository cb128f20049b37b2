"""Which revision a source is at, and its files in a folder."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from xlamig.config.files import FILENAMES
from xlamig.engine.gitfiles import GitError, git, write_files
from xlamig.fleet.job import Source
from xlamig.fleet.sources import is_repository, is_url
from xlamig.source.files import is_wanted

_COMMIT = re.compile(r"[0-9a-f]{40}")


class SourceError(Exception):
    """A repository that cannot be read: why, in a sentence."""


def revision_of(source: Source, seconds: float | None = None) -> str:
    """Return the state to scan: a commit, or "files:" and a digest for files outside git or changed since.

    Raises:
        SourceError: there is no such repository or revision.
    """
    if source.revision.startswith("-") or source.location.startswith("-"):
        raise SourceError("a location or revision cannot begin with `-`")
    try:
        if is_url(source.location):
            return _remote_revision(source, seconds)
        path = Path(source.location)
        if not (path / source.folder).is_dir() and not _is_mirror(path):
            raise SourceError(f"no such folder: {path / source.folder}")
        if _in_place(source):
            return _revision_of_files(path / source.folder, seconds)
        wanted = source.revision or "HEAD"
        return git(path, "rev-parse", "--verify", f"{wanted}^{{commit}}", seconds=seconds).strip()
    except GitError as error:
        raise SourceError(str(error)) from None


def files_of(source: Source, revision: str, scratch: Path) -> tuple[Path, int]:
    """The folder with the files to scan, and how many git does not have at hand. Files of git are written
    to `scratch`; a work tree, or a folder outside git, is read where it is.

    Raises:
        SourceError: git cannot read the repository.
    """
    if _in_place(source):
        return Path(source.location, source.folder), 0
    folder = scratch / "files"
    folder.mkdir()
    inside = (source.folder,) if source.folder else ()
    try:
        repository = Path(source.location)
        if is_url(source.location):
            repository = scratch / "git"
            _fetch(source, revision, repository)
        missing = write_files(repository, revision, inside, matters, folder)
    except GitError as error:
        raise SourceError(str(error).replace(str(scratch), "...")) from None
    top = folder / source.folder
    if source.folder and not top.is_dir():
        raise SourceError(f"no folder {source.folder} with files to check in it")
    return top, len(missing)


def matters(name: str) -> bool:
    """Return whether a check may read a file: code, settings and what is ignored."""
    return is_wanted(name) or name.rpartition("/")[2] in (".gitignore", *FILENAMES)


def _in_place(source: Source) -> bool:
    path = Path(source.location)
    return not is_url(source.location) and not source.revision and not _is_mirror(path)


def _is_mirror(path: Path) -> bool:
    """Return whether it has commits and no files of its own."""
    if not is_repository(path):
        return False
    return not (path / ".git").exists() or {entry.name for entry in path.iterdir()} == {".git"}


def _remote_revision(source: Source, seconds: float | None) -> str:
    if _COMMIT.fullmatch(source.revision):
        return source.revision
    wanted = source.revision or "HEAD"
    asked = ("ls-remote", "--", source.location, wanted, f"{wanted}^{{}}")
    lines = git(Path(), *asked, seconds=seconds).splitlines()
    if not lines:
        raise SourceError(f"the repository has no branch or tag {wanted}")
    peeled = [line for line in lines if line.endswith("^{}")]  # the commit of an annotated tag
    return (peeled or lines)[0].split()[0]


def _fetch(source: Source, revision: str, repository: Path) -> None:
    repository.mkdir()
    git(repository, "init", "--quiet", "--bare")
    git(repository, "fetch", "--quiet", "--depth=1", "--no-tags", "--", source.location, revision)


def _revision_of_files(folder: Path, seconds: float | None) -> str:
    try:
        commit = git(folder, "rev-parse", "--verify", "HEAD^{commit}", seconds=seconds).strip()
        asked = ("-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--", ".")
        if git(folder, "ls-files", "--", ".", seconds=seconds) and not git(folder, *asked, seconds=seconds):
            return commit
    except GitError:
        pass  # a folder outside git
    return f"files:{_digest_of(folder)}"


def _digest_of(folder: Path) -> str:
    state = hashlib.sha256()
    for path, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            file = Path(path, name)
            relative = file.relative_to(folder).as_posix()
            if matters(relative) and file.is_file():
                state.update(relative.encode("utf-8", "surrogateescape") + b"\0")
                state.update(hashlib.sha256(_bytes(file)).digest())
    return state.hexdigest()[:40]


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""
