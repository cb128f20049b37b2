"""Files of a commit, written to a folder: nothing is checked out, and no server is asked."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import IO

_ENVIRONMENT = {
    **os.environ,
    "GIT_NO_LAZY_FETCH": "1",  # a partial clone asks no server
    "GIT_TERMINAL_PROMPT": "0",  # and nobody is there to type a password
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
}


class GitError(Exception):
    """Git failed, or is not installed: its first line."""


def git(folder: Path, *arguments: str, seconds: float | None = None) -> str:
    """Return the output of a git command. Raises GitError, also when it takes longer than that."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, env=_ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} takes longer than {seconds:g} seconds") from None
    except OSError as error:
        raise GitError(f"this needs git: {error.strerror}") from None
    if done.returncode:
        raise GitError(first_line(done.stderr))
    return done.stdout.decode("utf-8", "surrogateescape")


def first_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[0] if lines else "git failed"


def write_files(
    repository: Path, revision: str, inside: Sequence[str], matters: Callable[[str], bool], folder: Path
) -> list[str]:
    """Write the files of a commit that matter, as they were, below `inside`; those that git does not have
    at hand are returned. Links are left out. Raises GitError."""
    listed = git(repository, "ls-tree", "-r", "-z", "--full-tree", revision, "--", *inside)
    entries = (entry.partition("\t") for entry in listed.split("\0") if entry)
    files = [
        (head.split()[2], name)
        for head, _, name in entries
        if head.startswith("100") and matters(name) and ".." not in PurePosixPath(name).parts
    ]
    missing = []
    for name, content in _contents(repository, files):
        if content is None:
            missing.append(name)
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return missing


def _contents(repository: Path, files: Sequence[tuple[str, str]]) -> Iterator[tuple[str, bytes | None]]:
    """One file at a time, so that a large repository does not have to fit into memory."""
    command = ["git", "-C", str(repository), "cat-file", "--batch"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_ENVIRONMENT,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        for blob, name in files:
            yield name, _content(process.stdin, process.stdout, process.stderr, blob)
        process.stdin.close()


def _content(stdin: IO[bytes], stdout: IO[bytes], stderr: IO[bytes], blob: str) -> bytes | None:
    try:
        stdin.write(f"{blob}\n".encode())
        stdin.flush()
    except BrokenPipeError:
        raise GitError(first_line(stderr.read())) from None
    header = stdout.readline().split()
    if not header:  # a damaged object ends git
        raise GitError(first_line(stderr.read()))
    if len(header) != 3:
        return None
    content = stdout.read(int(header[2]))
    if len(content) < int(header[2]):
        raise GitError(first_line(stderr.read()))
    stdout.read(1)
    return content
