"""From observed calls to one row per public name."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import xla_verify
from case_search import Seen, fits, separating, told_by_trait
from operator_samples import Subject
from xla_dispatch import tags
from xla_groups import Group
from xla_names import public_names
from xla_pool import LATE
from xla_rows import (
    Record,
    Row,
    agrees,
    aten_of,
    base_of,
    cases_of,
    compact,
    details,
    excused,
    is_odd,
    odd_cases,
    on_tpu,
    outcome_of,
    spelled,
)

ENOUGH = 3  # calls that are tried in a fresh process
AFTER_OTHERS = "after a call with other arguments and the same shapes in the process"
NO_CALL = "no sample call runs on the CPU"
MOSTLY = 0.75  # the share of calls from which on a row speaks of fallbacks and the cases of what is native


class Rows:
    """Builds rows; `run` measures something again, see `xla_verify`."""

    def __init__(self, run: Callable[[str, xla_verify.Work], list[Record]]) -> None:
        self._run = run
        self.refused: list[str] = []
        self._fresh: dict[tuple[str, str, str], list[str]] = defaultdict(list)

    def of_group(self, group: Group) -> dict[str, Row]:
        name = group.names[0]
        main = [(s, r) for s, r in group.calls if "skipped" not in r and r.get("dtype")]
        row = self._row(name, main)
        rows: dict[str, Row] = {name: row}
        for other in group.names[1:]:
            own = [
                (s, r) for s, r in group.calls if r.get("name") == other and "forward" in r and not r["dtype"]
            ]
            own = [(s, {**r, "forward": excused(name, r["forward"])}) for s, r in own]
            differs = [r for _, r in own if not agrees(r, main)]
            rows[other] = self._own_row(name, row, [r for _, r in own]) if differs else {"same": name}
        return rows

    def of_cases(self, names: Collection[str]) -> dict[str, Row]:
        """Return the rows of names that only the hand-written cases call."""
        found: dict[str, Row] = {}
        for case in xla_verify.CASES["case"]:
            name = case["api"]
            if name in names and (row := self._written(case)):
                status = self._ran(case, "otherwise", "forward")["status"]
                known = found.setdefault(name, {"status": status, "cases": []})
                known["cases"].append(row)
                known["status"] = "conditional" if status == "native" else status
        return found

    def _own_row(self, name: str, row: Row, own: Sequence[Record]) -> Row:
        """Return the row of a name that does not do what the first one does."""
        statuses = Counter(r["forward"]["status"] for r in own)
        if len(statuses) != 1:
            return row
        first = own[0]["forward"]
        return compact(
            {
                "status": first["status"],
                "aten": aten_of(r["forward"] for r in own),
                "error": first.get("error", ""),
            }
        )

    def _row(self, name: str, calls: list[tuple[Subject, Record]]) -> Row:
        late = [record["lost"] for _, record in calls if record.get("lost", "").startswith(LATE)]
        seen = [
            self._judged(name, subject, record)
            for subject, record in calls
            if not record.get("lost", "").startswith(LATE)
        ]
        if not seen:
            return {"status": "unknown", "note": late[0] if late else NO_CALL}
        written = [case for case in map(self._written, cases_of(name)) if case]
        usual = [s for s in seen if not is_odd(s)] or seen
        patterns = [case["when"] for case in written if case.get("when")]
        plain = [s for s in usual if not any(fits(when, s.values) for when in patterns)] or usual
        claimed = [case for case in written if case.get("text")]
        expected = {case["status"] for case in claimed if not case.get("backward")}
        status, read, cases = self._cases(name, plain, "forward", expected)
        cases = [case for case in cases if not _is_told(case, claimed)]
        cases = [case for case in cases if case not in written]
        cases = [*written, *cases, *self._spoiled(name, seen)]
        if status == "native" and any(c["status"] != "native" and not c.get("backward") for c in cases):
            status = "conditional"
        cases += odd_cases(seen, usual, status)
        base = [s.source["forward"] for s in plain if s.outcome.split("+")[0] == base_of(status)]
        row: Row = {"status": status, "aten": aten_of(base) if status == "fallback" else ()}
        if status in ("error", "wrong-result"):
            row["error"] = base[0].get("error", "") if base else ""
        row |= self._backward(name, plain, status)
        row["cases"] = [*cases, *(case for case in row.get("cases", ()) if not _is_told(case, claimed))]
        row["host_read"] = read
        every = [a for s in plain for a in s.source["forward"].get("aten", ())]
        row["dynamic_shape"] = any("dynamic_output_shape" in tags(a) for a in every)
        return compact(row)

    def _judged(self, name: str, subject: Subject, record: Record) -> Seen:
        """A call with its outcome. A wrong result, or a gradient that raises, has to be so in a process of
        its own as well."""
        record = dict(record)
        for half in ("forward", "backward"):
            status = record.get(half, {}).get("status")
            if (
                status == "wrong-result"
                or (status, half) == ("error", "backward")
                or (half == "forward" and "lost" in record)
            ):
                record[half] = self._alone(name, subject, record, half)
        for half in ("forward", "backward"):
            if half in record:
                record[half] = on_tpu(record[half])
        values = xla_verify.bound(name, record.get("args", ()), record.get("kwargs", {}))
        traits = {k: record[k] for k in ("dimensions", "training", "empty", "dtype") if k in record}
        traits["main"] = not subject.dtypes or record.get("dtype") == subject.dtypes[0]
        return Seen(values, outcome_of(record["forward"]), traits, {**record, "subject": subject})

    def _spoiled(self, name: str, seen: Sequence[Seen]) -> Iterator[Row]:
        """A result that is wrong only after other calls: a compiled graph was taken for another one's."""
        if name in xla_verify.CASES["artefact"] or any(s.outcome == "error" for s in seen):
            return
        for half in ("forward", "backward"):
            fresh = self._fresh[name, half, "wrong-result"]
            if fresh and "wrong-result" not in fresh:
                case = {"status": "wrong-result", "text": AFTER_OTHERS, "backward": half == "backward"}
                yield compact(case)

    def _alone(self, name: str, subject: Subject, record: Record, half: str) -> Mapping[str, Any]:
        """A wrong result as it is in a fresh process; where some calls agree, the rest is believed."""
        known = [] if "lost" in record else self._fresh[name, half, record[half]["status"]]
        if len(known) >= ENOUGH and len(set(known)) == 1:
            fresh = {**record[half], "status": known[0]}
        else:
            again = self._run(
                f"alone|{subject.key}|{record['call']}", xla_verify.alone(subject, record["call"])
            )
            fresh = next((r[half] for r in again if half in r), record[half])
            known.append(fresh["status"])
        fresh = excused(name, fresh)
        if fresh["status"] in ("native", "fallback"):
            fresh = {key: value for key, value in fresh.items() if key != "error"}
        return fresh

    def _cases(
        self, name: str, seen: Sequence[Seen], half: str, claimed: Collection[str] = ()
    ) -> tuple[str, bool, list[Row]]:
        """The usual status, whether it reads values back, and the cases that differ from it; of what is
        `claimed` a hand-written case tells when it happens."""
        counts = Counter(s.outcome for s in seen)
        usual = counts.most_common(1)[0][0]
        few = counts["native"] <= (1 - MOSTLY) * len(seen)
        if counts["native"] and (not few or usual in claimed):
            usual = "native"
        cases: list[Row] = []
        for outcome in sorted(counts, key=lambda o: (-counts[o], o)):
            if outcome != usual:
                cases += self._explained(name, seen, outcome, half)
        status, _, read = usual.partition("+")
        return status, bool(read), cases

    def _explained(self, name: str, seen: Sequence[Seen], outcome: str, half: str) -> list[Row]:
        status, _, read = outcome.partition("+")
        mine = [s for s in seen if s.outcome == outcome]
        told = {"status": status, "aten": (), "host_read": bool(read), "backward": half == "backward"}
        if words := told_by_trait(seen, outcome):
            return [compact({**told, "text": words, **details(mine, half)})]
        refused: list[str] = []
        while True:
            tests = separating(seen, outcome, refused)
            wrong = [t for t in tests if not self._holds(name, t, seen, outcome, half)]
            if not wrong:
                break
            refused += [f"{parameter}={pattern}" for parameter, pattern in wrong]
        cases = []
        for parameter, pattern in tests:
            fitting = [s for s in mine if fits({parameter: pattern}, s.values)]
            cases.append(compact({**told, "when": {parameter: pattern}, **details(fitting, half)}))
        rest = [s for s in mine if not any(fits({p: v}, s.values) for p, v in tests)]
        if rest:
            cases.append(
                compact({**told, "text": f"for example {spelled(name, rest[0])}", **details(rest, half)})
            )
        return cases

    def _holds(self, name: str, test: tuple[str, Any], seen: Sequence[Seen], outcome: str, half: str) -> bool:
        """Changing the one argument has to change what happens."""
        samples = [(s.source["subject"], Seen(s.values, s.outcome, s.traits, s.source["call"])) for s in seen]
        key = f"flip|{name}|{half}|{json.dumps(test, sort_keys=True)}|{outcome}"
        records = [
            r
            for r in self._run(key, xla_verify.flipped(name, test, samples, half))
            if half in r or "forward" in r
        ]
        verdicts = []
        for record in records:
            if half not in record:
                continue
            became = outcome_of(record[half]) == outcome
            verdicts.append(became == record["call"].startswith("out"))
        if not verdicts:  # cannot be changed alone: believe words, not numbers
            values = test[1] if isinstance(test[1], list) else [test[1]]
            return all(isinstance(v, str | bool | dict) for v in values)
        return all(verdicts)

    def _backward(self, name: str, plain: Sequence[Seen], status: str) -> Row:
        seen = [
            Seen(s.values, outcome_of(s.source["backward"]).partition("+")[0], s.traits, s.source)
            for s in plain
            if "backward" in s.source and s.outcome.partition("+")[0] == base_of(status)
        ]
        if not seen:
            return {}
        usual, _, cases = self._cases(name, seen, "backward")
        row: Row = {"cases": cases}
        if usual != base_of(status):
            found = details([s for s in seen if s.outcome == usual], "backward")
            row |= {
                "backward": usual,
                "backward_aten": found.get("aten", ()),
                "backward_error": found.get("error", ""),
            }
        return row

    def _ran(self, case: Mapping[str, Any], key: str, half: str) -> Mapping[str, Any]:
        kind = "gradient" if case.get("gradient") else "case"
        told = "|".join((kind, case["api"], case[key], *([case["via"]] if "via" in case else [])))
        records = self._run(told, xla_verify.written(case, key))
        if lost := next((r["lost"] for r in records if "lost" in r and "call" in r), None):
            return {"status": "error", "error": lost}
        found = next((r[half] for r in records if half in r), {})
        return found if "via" in case else excused(case["api"], found)

    def _written(self, case: Mapping[str, Any]) -> Row | None:
        """A hand-written case, if its two calls differ."""
        half = "backward" if case.get("gradient") else "forward"
        hit, other = (self._ran(case, key, half) for key in ("call", "otherwise"))
        if not hit or not other or outcome_of(hit) == outcome_of(other):
            self.refused.append(f"{case['api']} {case.get('when') or case.get('text')}: {hit} like {other}")
            return None
        return compact(
            {
                "when": case.get("when", {}),
                "text": case.get("text", ""),
                "status": hit["status"],
                "aten": hit.get("aten", ()),
                "error": hit.get("error", ""),
                "host_read": hit["status"] == "native" and hit.get("read", False),
                "backward": half == "backward",
            }
        )


def _is_told(case: Row, claimed: Sequence[Row]) -> bool:
    """Return whether hand-written cases cover it in general."""
    like = [c for c in claimed if (c["status"], c.get("backward")) == (case["status"], case.get("backward"))]
    aten = {name for other in like for name in other.get("aten", ())}
    return (
        bool(like)
        and case.get("text", "").startswith(("for example", "for an input of"))
        and set(case.get("aten", ())) <= aten
    )


def unknown_rows(rows: Mapping[str, Row]) -> dict[str, Row]:
    missing = [name for name in public_names() if name not in rows]
    return {name: {"status": "unknown", "note": NO_CALL} for name in missing}
