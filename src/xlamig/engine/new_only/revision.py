"""Which lines of the working tree are not as they were in a git revision."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from xlamig.engine.options import UsageError
from xlamig.findings import Finding

Rows = tuple[range, ...]

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.MULTILINE)
_EVERYTHING: Rows = (range(1, 1 << 62),)
_ABOUT_A_FILE = frozenset({"XLA000", "XLA091"})


@dataclass(frozen=True, slots=True)
class Changes:
    """New and changed rows by file name; a file that is not there is as it was."""

    rows: Mapping[str, Rows]

    @staticmethod
    def since(revision: str, filenames: Iterable[str]) -> Changes:
        """Against the last commit that the working tree has in common with `revision`, so that
        what happened there in the meantime counts for nothing.

        Raises:
            UsageError: git is missing, there is no repository or no such revision.
        """
        names = {Path(name).resolve(): name for name in filenames}
        if not names:
            return Changes({})
        # The repository of the files: the working directory may be in another one, or in none.
        here = (path for path in names if path.is_relative_to(Path.cwd()))
        folder = next(here, next(iter(names))).parent
        top = Path(
            _git(folder if folder.is_dir() else Path.cwd(), "rev-parse", "--show-toplevel").rstrip("\n")
        )
        commit = _git(
            top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}",
            failed=f"git knows no revision {revision!r}",
        ).strip()  # fmt: skip
        base = _git(top, "merge-base", commit, "HEAD", failed=None).strip() or commit
        return Changes(_parse_changes(top, base, names))

    def touch(self, finding: Finding) -> bool:
        """Return whether a line of the finding is new. Of a notebook, whose rows are no lines of its file,
        and of what concerns a file as a whole, any change counts."""
        rows = self.rows.get(finding.filename, ())
        if finding.cell is not None or finding.code in _ABOUT_A_FILE:
            return bool(rows) or finding.code == "XLA091"
        first, last = finding.place.location.row, finding.place.end_location.row
        return any(part.start <= last and first < part.stop for part in rows)


def _parse_changes(top: Path, base: str, names: Mapping[Path, str]) -> dict[str, Rows]:
    tracked = _list_files(_git(top, "ls-tree", "-r", "-z", "--name-only", "--full-tree", base))
    renamed = _renamed_files(_git(top, "diff", "-z", "-M", "--name-status", "--diff-filter=R", base))
    touched = _list_files(_git(top, "diff", "-z", "--name-only", base))
    changed: dict[str, Rows] = {}
    for path, name in names.items():
        if not path.is_relative_to(top):
            raise UsageError(f"{name} is outside the repository {top}: check one repository at a time")
        inside = path.relative_to(top).as_posix()
        if inside in touched:
            sides = [renamed[inside], inside] if inside in renamed else [inside]
            if len(sides) == 1 and inside not in tracked:
                changed[name] = _EVERYTHING
            else:
                changed[name] = _rows(_git(top, "diff", "-U0", "-M", "--no-ext-diff", base, "--", *sides))
        elif inside not in tracked:  # never added
            changed[name] = _EVERYTHING
    return changed


def _rows(patch: str) -> Rows:
    """The rows that a patch without context adds or replaces."""
    hunks = [(int(hunk[1]), int(hunk[2] or 1)) for hunk in _HUNK.finditer(patch)]
    return tuple(range(start, start + count) for start, count in hunks if count)


def _list_files(output: str) -> frozenset[str]:
    return frozenset(output.split("\0"))


def _renamed_files(output: str) -> dict[str, str]:
    """Old names by new ones, from `R100 NUL old NUL new NUL` and so on."""
    words = output.split("\0")[:-1]
    return {new: old for old, new in zip(words[1::3], words[2::3], strict=True)}


def _git(folder: Path, *arguments: str, failed: str | None = "") -> str:
    """git's output; on failure a UsageError with `failed` or what git says, or "" for None."""
    settings = ("-c", "core.quotePath=false", "-c", "diff.noprefix=false")
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *settings, *arguments],
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
    except OSError as error:
        raise UsageError(f"--diff-base needs git: {error.strerror}") from None
    if done.returncode == 0:
        return done.stdout
    if failed is None:
        return ""
    said = done.stderr.strip().splitlines()
    raise UsageError(failed or f"--diff-base: {said[0] if said else 'git failed'}")
