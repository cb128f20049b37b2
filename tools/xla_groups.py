"""Names that mean the same operator, and what was observed of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from operator_groups import grouped
from operator_samples import Subject
from xla_measure_operator import features, samples_of
from xla_names import is_operator
from xla_rows import Record


@dataclass
class Group:
    """Names that mean the same, the first one for all, and what was seen of them."""

    names: list[str]
    calls: list[tuple[Subject, Record]] = field(default_factory=list)


def groups(sampled: Sequence[Subject], records: Callable[[str], list[Record]]) -> list[Group]:
    def names(subject: Subject) -> list[str]:
        return [name for name in subject.names if is_operator(name)]

    def inplace(subject: Subject) -> str:
        return subject.inplace if subject.inplace and is_operator(subject.inplace) else ""

    return [
        Group(own, [(s, _complete(s, record)) for s in members for record in records(s.key)])
        for own, members in grouped(sampled, names, inplace)
    ]


def _complete(subject: Subject, record: Record) -> Record:
    """A call that killed its process, or did not end, left no record of its arguments."""
    dtype, _, number = record.get("call", "").partition("/")
    if "lost" not in record or not number:
        return record
    sample = next((s for d, n, s in samples_of(subject) if (d, str(n)) == (dtype, number)), None)
    if sample is None:
        return record
    return {
        **record,
        **features(sample),
        "dtype": dtype,
        "forward": {"status": "error", "error": record["lost"]},
    }
