"""The trace for programs keeps to its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator, ValidationError
from traces import EMPTY, FAILED, FAILURE, HEALTHY, TRACE, event, spot

from xlamig.observations import EventKind, Frequency, Trace
from xlamig.report import trace_json

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "schemas" / "trace.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)


def document(trace: Trace) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(trace_json.render(trace))
    return content


def without_each_key(trace: Trace, *path: str | int) -> Iterator[dict[str, Any]]:
    """The document without one key of the object at `path`, for each of its keys."""

    def at(content: Any) -> Any:
        for key in path:
            content = content[key]
        return content

    for key in at(document(trace)):
        broken = document(trace)
        del at(broken)[key]
        yield broken


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("boundary",),
        ("boundary", "location"),
        ("totals",),
        ("first_steps", 0),
        ("events", 0),
        ("exception",),
    ],
)
def test_every_key_is_required(path: tuple[str | int, ...]) -> None:
    for broken in without_each_key(FAILED, *path):
        with pytest.raises(ValidationError):
            VALIDATOR.validate(broken)


@pytest.mark.parametrize("key", ["filename", "location", "end_location"])
def test_a_place_is_there_as_a_whole_or_not_at_all(key: str) -> None:
    broken = document(TRACE)
    broken["events"][0][key] = None
    with pytest.raises(ValidationError):
        VALIDATOR.validate(broken)


def test_the_words_are_those_of_the_vocabulary() -> None:
    words = SCHEMA["$defs"]["event"]["properties"]
    assert words["kind"]["enum"] == list(get_args(EventKind))
    assert words["frequency"]["enum"] == list(get_args(Frequency))


@pytest.mark.parametrize(
    "trace",
    [TRACE, EMPTY, HEALTHY, FAILED, replace(TRACE, failure=replace(FAILURE, spot=None))],
    ids=["full", "empty", "healthy", "failed", "failed-nowhere"],
)
def test_documents_are_valid(trace: Trace) -> None:
    VALIDATOR.validate(document(trace))


def test_what_has_no_line_says_so() -> None:
    (found,) = document(replace(TRACE, events=(event(),)))["events"]
    assert [found[key] for key in ("filename", "location", "end_location", "scope")] == [None] * 4


@pytest.mark.parametrize(
    ("filename", "told"),
    [("a/b.py", "a/b.py"), (str(Path("a/b.py").absolute()), "a/b.py"), ("/b.py", "/b.py")],
)
def test_paths_start_at_the_working_directory(filename: str, told: str) -> None:
    boundary = replace(spot("loader"), filename=filename)
    assert document(replace(TRACE, boundary=boundary))["boundary"]["filename"] == told


def test_an_event_holds_what_was_seen() -> None:
    found = document(TRACE)["events"][3]
    assert found["kind"] == "changing-shape"
    assert found["location"] == {"row": 5, "column": 13}
    assert found["end_location"] == {"row": 5, "column": 29}
    assert (found["detail"], found["compile_seconds"], found["rule"]) == ("8x4 -> 2x4", 1.5, "XLA904")


def test_the_exception_has_its_place_and_its_rule() -> None:
    assert document(FAILED)["exception"] == {
        "type": "RuntimeError",
        "message": "no device\nat all",
        "rule": "XLA001",
        "advice": "choose `device` once",
        "filename": "train.py",
        "location": {"row": 7, "column": 5},
        "end_location": {"row": 7, "column": 20},
    }
