"""Results kept between runs, in one SQLite file per configuration root.

Two layers share the table: parsed modules by hash of their text, and finished reports by hash of
all they depend on. A key that matches is the same question, so entries never need invalidation.
Entries are pickles, and a cache may lie in a checkout that somebody else made: each is signed with
a key of the user's own, and an entry that is not signed so is never loaded.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import pickle
import secrets
import sqlite3
import sys
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xlamig import __version__
from xlamig.config.paths import may_keep, users_cache
from xlamig.config.settings import Settings

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_LIMIT = 512 * 1024 * 1024
_BATCH = 500
_SIGNATURE = 16
_IGNORE = "*\n"


def digest(*parts: object) -> str:
    """A key for what `parts` say to these versions; equal parts give equal keys, in every process."""
    state = hashlib.sha256(_made_by().encode())
    for part in parts:
        kind = type(part) if isinstance(part, str | bytes) else None
        text = part if isinstance(part, str | bytes) else _write_value(part)
        data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
        state.update(f"{kind} {len(data)}\n".encode())
        state.update(data)
    return state.hexdigest()


def _write_value(value: object) -> str:
    """Return `repr(value)`, with the elements of sets in order: that of strings differs between processes."""
    text = repr(value)
    return text if "frozenset({" not in text else _ordered(value)


def _ordered(value: object) -> str:
    if isinstance(value, str):  # as most values are
        return repr(value)
    if isinstance(value, frozenset):
        return f"frozenset({sorted(map(_ordered, value))})"
    if isinstance(value, tuple):
        return f"{type(value).__name__}({', '.join(map(_ordered, value))})"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_ordered(key)}: {_ordered(each)}' for key, each in value.items())}}}"
    if is_dataclass(value):
        held = (getattr(value, each.name) for each in fields(value))
        return f"{type(value).__name__}({', '.join(map(_ordered, held))})"
    return repr(value)


def digest_of(job: DataclassInstance, **instead: object) -> str:
    """The key of a job's result: of all fields, so that none is forgotten. `instead` are digests, or texts
    that are always the same, of fields that are large or hold sets."""
    return digest(*(instead.get(each.name, getattr(job, each.name)) for each in fields(job)))


@lru_cache(maxsize=1)
def _made_by() -> str:
    """Return the version of the code that results depend on, besides their input. The age of the code is for
    those who change it."""
    package = Path(__file__).parents[1]
    files = (*package.rglob("*.py"), *package.glob("knowledge/data/*.*"))
    changed = max(file.stat().st_mtime_ns for file in files)
    return f"{__version__} {version('libcst')} {sys.version} {changed}"


def folder_of(settings: Settings) -> Path | None:
    """None where `.xlamig_cache` is a link that leaves the repository."""
    folder = settings.root / ".xlamig_cache"
    return settings.cache_dir or (folder if may_keep(folder, settings.root) else None)


class Cache:
    """A persistent mapping of digests to picklable values. Every failure is a miss: a cache on a
    full disk or a read-only checkout costs time, never the run."""

    def __init__(self, folder: Path | None) -> None:
        self._connection: sqlite3.Connection | None = None
        self._secret = b""
        if folder is None:
            return
        try:
            self._secret = _users_secret()
            try:
                self._connection = _connect(folder)
            except sqlite3.OperationalError:  # busy, read-only, full: it may be well another time
                raise
            except sqlite3.DatabaseError:
                _file(folder).unlink()
                self._connection = _connect(folder)
        except (OSError, RuntimeError, sqlite3.Error):  # RuntimeError: the user has no home
            self._connection = None

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values of those keys that are there."""
        wanted = list(keys)
        found: dict[str, Any] = {}
        if self._connection is None:
            return found
        try:
            for i in range(0, len(wanted), _BATCH):
                batch = wanted[i : i + _BATCH]
                marks = ",".join("?" * len(batch))
                query = f"SELECT key, value FROM entries WHERE key IN ({marks})"
                for key, value in self._connection.execute(query, batch):
                    signature, data = value[:_SIGNATURE], value[_SIGNATURE:]
                    if hmac.compare_digest(signature, self._sign(key, data)):
                        found[key] = pickle.loads(zlib.decompress(data))
        except Exception:  # a damaged file can raise anything: do without
            self._drop()
        return found

    def put_many(self, entries: Mapping[str, object]) -> None:
        if self._connection is None or not entries:
            return
        try:
            packed = ((key, zlib.compress(pickle.dumps(value, 5), 1)) for key, value in entries.items())
            rows = [(key, self._sign(key, data) + data) for key, data in packed]
            with self._connection:
                self._connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", rows)
        except (OSError, sqlite3.Error):
            self._drop()

    def _sign(self, key: str, data: bytes) -> bytes:
        return hashlib.blake2b(key.encode() + data, key=self._secret, digest_size=_SIGNATURE).digest()

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def close(self) -> None:
        self._drop()


def _file(folder: Path) -> Path:
    return folder / "cache.sqlite"


def _connect(folder: Path) -> sqlite3.Connection:
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.iterdir()):  # a folder of the user's with other things in it stays in git
        (folder / ".gitignore").write_text(_IGNORE, encoding="utf-8")
    path = _file(folder)
    if path.is_symlink():  # somebody else's checkout may point it at any database of the user's
        raise OSError(f"{path} is a link")
    if path.exists() and path.stat().st_size > _LIMIT:
        path.unlink()
    connection = sqlite3.connect(path, timeout=1.0)
    try:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID"
        )
    except BaseException:
        connection.close()
        raise
    return connection


def remove(folder: Path) -> bool:
    """Delete what the cache wrote into a folder, and the folder if that was all; whether it was there."""
    if not _file(folder).is_file():
        return False
    for file in folder.glob("cache.sqlite*"):
        file.unlink()
    ignore = folder / ".gitignore"
    if ignore.is_file() and ignore.read_text("utf-8", "replace") == _IGNORE:
        ignore.unlink()
    with suppress(OSError):
        folder.rmdir()
    return True


def _users_secret() -> bytes:
    """The user's signing key, made on first use. Raises OSError where it cannot be kept."""
    path = users_cache() / "xlamig" / "key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(32))
    secret = path.read_bytes()
    if len(secret) < 32:
        raise OSError("the signing key is damaged")
    return secret
