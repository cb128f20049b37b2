"""Names that mean the same operator, and what was observed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from operator_samples import Subject
from xla_names import is_operator
from xla_rows import Record
from xla_work import features, samples_of


@dataclass
class Group:
    """Names that mean the same, the first one for all, and what was seen of them."""

    names: list[str]
    calls: list[tuple[Subject, Record]] = field(default_factory=list)


def groups(sampled: Iterable[Subject], records: Callable[[str], list[Record]]) -> list[Group]:
    home: dict[str, Group] = {}
    for subject in sampled:
        names = [
            n for n in (*subject.names, *([subject.inplace] if subject.inplace else [])) if is_operator(n)
        ]
        if not names:
            continue
        known = next((home[name] for name in names if name in home), None) or Group([])
        for name in names:
            if name not in home:
                known.names.append(name)
                home[name] = known
        known.calls += [(subject, _complete(subject, record)) for record in records(subject.key)]
    return list({id(group): group for group in home.values()}.values())


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
