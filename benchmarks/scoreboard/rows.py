"""A row of the table: one measure, on dev and on test."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from benchmarks.intervals import percent
from benchmarks.split import SPLITS, Split

Better = Literal["more", "less", "neither"]
SECONDS_NOISE = 0.15  # relative change of a time that says nothing


@dataclass(frozen=True, slots=True)
class Figure:
    """A share, or a rate with its own unit: `part` per `whole`."""

    part: float
    whole: float

    @property
    def value(self) -> float | None:
        return self.part / self.whole if self.whole else None


@dataclass(slots=True)
class Row:
    """A measure with its figures. `unit` is empty for a share; other `cases` are not compared."""

    name: str
    figures: dict[Split, Figure] = field(default_factory=dict)
    unit: str = ""
    better: Better = "more"
    cases: str = ""

    def text(self, split: Split) -> str:
        """Return the figure of a half as text; "-" without one."""
        figure = self.figures.get(split)
        if figure is None or figure.value is None:
            return "-"
        if self.unit:
            return f"{figure.value:.2f}"
        part, whole = round(figure.part), round(figure.whole)
        return f"{part}/{whole} {percent(part, whole)}"

    def change(self, split: Split, before: Row | None) -> str:
        """Return an earlier figure and whether this one is better (+), worse (-) or of other cases (*)."""
        old, new = before and before.figures.get(split), self.figures.get(split)
        if not old or not new or old.value is None or new.value is None:
            return "-"
        shown = f"{old.value:.2f}" if self.unit else f"{old.value:.0%}"
        return f"{shown} {self.sign(split, before)}".rstrip()

    def sign(self, split: Split, before: Row | None) -> str:
        """Return "+" for better than before, "-" for worse, "*" for other cases, "" without a direction."""
        old, new = before and before.figures.get(split), self.figures.get(split)
        if not old or not new or old.value is None or new.value is None or self.better == "neither":
            return ""
        if before and before.cases != self.cases:
            return "*"
        least = SECONDS_NOISE * old.value if self.unit.startswith("s") else 0.0005
        if abs(new.value - old.value) <= least:
            return ""
        return "+" if (new.value > old.value) == (self.better == "more") else "-"


def diverging(rows: list[Row], before: dict[str, Row]) -> list[str]:
    """Return the measures that got better on dev and worse on test."""
    signs = {row.name: [row.sign(split, before.get(row.name)) for split in SPLITS] for row in rows}
    return [name for name, sign in signs.items() if sign == ["+", "-"]]
