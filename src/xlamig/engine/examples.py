"""Check a rule on the examples of its page and on its test programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from xlamig.config.settings import TARGETS
from xlamig.engine.options import Options, caught
from xlamig.engine.run import Run
from xlamig.rulebook.examples import Example, differences, marks_of

ROLES = ("bad", "good", "silent")


def programs_of(code: str, folder: Path) -> Iterator[Example]:
    """Yield the test programs of a rule: `folder/CODE/case/bad.py`, `good.py` and `silent.py`."""
    for path in sorted((folder / code).glob("*/*.py")):
        if path.stem in ROLES:
            yield Example(path.as_posix(), path.name, path.read_text("utf-8"), path.stem == "bad", every=True)


def mistakes(example: Example, code: str, rules: Sequence[Path] = ()) -> list[str]:
    """Return a sentence for each line where rule `code` does not do what the marks say, on any target.

    `rules` are the user's own folders of pages. Raises UsageError for a broken page.
    """
    try:
        marks = [mark for mark in marks_of(example.text) if mark.code == code]
    except ValueError as error:
        return [f"{example.place}: {error}"]
    if example.reports and not marks:
        return [f"{example.place}: no line has the mark `# expect: {code}`"]
    found: list[str] = []
    for target in TARGETS:
        overrides = {
            "select": [code], "target": target, "preview": True, "rules": [str(folder) for folder in rules],
            "confidence": "possible" if example.every else "likely", "include-no-action": example.every,
        }  # fmt: skip
        with caught():
            report = Run(
                [Path(example.name)],
                Options(overrides, isolated=True, stdin=(example.name, example.text.encode()), whole=True),
            ).report()
        reported = {finding.place.location.row for finding in report.findings}
        found += [f"{example.place}: {skipped.reason}" for skipped in report.skipped]
        marked = {mark.row for mark in marks if mark.target == target}
        found += [f"{example.place}: {text}" for text in differences(code, target, marked, reported)]
    return list(dict.fromkeys(found))
