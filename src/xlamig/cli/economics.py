"""The options of `plan` that ask what it costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlamig.cli.values import names

if TYPE_CHECKING:
    from xlamig.config.settings import EffortSettings
    from xlamig.effort.plan import Plan

_NAMES = ("fit", "gpu", "gpus", "hours", "tpu", "price", "gpu_utilisation", "tpu_utilisation", "hourly_rate")


@dataclass(frozen=True, slots=True)
class MoneyFlags:
    fit: Path | None
    gpu: str | None
    gpus: int
    hours: float | None
    tpu: tuple[str, ...]
    price: dict[str, float]
    gpu_utilisation: float | None
    tpu_utilisation: tuple[float, float, float] | None
    hourly_rate: float | None

    def check(self) -> None:
        """Raises UsageError for half a question."""
        if self.gpu is None:
            if self.hours is not None or self.tpu:
                raise click.UsageError("--hours and --tpu need --gpu")
            if self.fit is None and (self.price or self.hourly_rate is not None):
                raise click.UsageError("--price and --hourly-rate need --gpu or --fit")
        elif self._is_half():
            raise click.UsageError("--gpu needs --hours and --tpu, or --fit")

    def _is_half(self) -> bool:
        both, neither = self.hours is not None and self.tpu, self.hours is None and not self.tpu
        return not (both or (neither and self.fit))

    def add_to(self, plan: Plan, settings: EffortSettings) -> Plan:
        """The plan with its economics, if they were asked for.

        Raises:
            UsageError: a figure is in no table, or a table cannot be read.
        """
        from dataclasses import replace

        from xlamig.effort.comparison import UTILISATION, Question
        from xlamig.effort.economics import NoFigure, weigh
        from xlamig.engine import UsageError
        from xlamig.knowledge.hardware import HardwareError, load

        plan = self._add_step(plan, settings)
        if self.gpu is None or self.hours is None:
            return plan
        question = Question(
            self.gpu, self.gpus, self.hours, self.tpu,
            self.gpu_utilisation or UTILISATION[1],
            self.tpu_utilisation or UTILISATION,
            self.price,
            self.hourly_rate or settings.hourly_rate,
        )  # fmt: skip
        try:
            return replace(plan, economics=weigh(question, plan, load(settings.hardware)))
        except (NoFigure, HardwareError) as error:
            raise UsageError(str(error)) from None

    def _add_step(self, plan: Plan, settings: EffortSettings) -> Plan:
        from dataclasses import replace

        from xlamig.effort.comparison import UTILISATION, StepQuestion
        from xlamig.effort.economics import NoFigure
        from xlamig.effort.steps import FitError, read, weigh_step
        from xlamig.engine import UsageError
        from xlamig.knowledge.hardware import HardwareError, load

        if self.fit is None:
            return plan
        question = StepQuestion(
            self.gpu,
            self.gpu_utilisation or UTILISATION[1],
            self.tpu_utilisation or UTILISATION,
            self.price,
            self.hourly_rate or settings.hourly_rate,
        )
        try:
            return replace(plan, step=weigh_step(read(self.fit), question, plan, load(settings.hardware)))
        except (NoFigure, FitError, HardwareError) as error:
            raise UsageError(str(error)) from None


def read_prices(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    found = {}
    for item in value:
        name, _, number = item.partition("=")
        try:
            found[name.strip().lower()] = price = float(number)
        except ValueError:
            price = 0.0
        if not 0 < price < float("inf"):
            raise click.BadParameter(f"{item!r}: expected NAME=PRICE, such as v6e=2.7")
    return found


def _share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    return value / 100 if value is not None else None


def _shares(
    ctx: click.Context, param: click.Parameter, value: str | None
) -> tuple[float, float, float] | None:
    if value is None:
        return None
    try:
        low, likely, high = (float(part) / 100 for part in value.split(","))
    except ValueError:
        low = likely = high = 0.0
    if not 0 < low <= likely <= high <= 1:
        raise click.BadParameter(f"{value!r}: expected LOW,LIKELY,HIGH in percent, such as 20,40,50")
    return low, likely, high


_OPTIONS = (
    click.option(
        "--fit", type=click.Path(path_type=Path), metavar="FILE",
        help="Use a step's costs from the JSON of `xlamig fit`.",
    ),
    click.option("--gpu", metavar="NAME", help="Compare costs: the GPU the job runs on, such as h100."),
    click.option("--gpus", type=click.IntRange(1), default=1, show_default=True, help="Number of GPUs."),
    click.option("--hours", type=click.FloatRange(0, min_open=True), help="Hours the job runs."),
    click.option("--tpu", metavar="LIST", callback=names, help="TPUs to compare with, such as v5e,v6e."),
    click.option(
        "--price", multiple=True, metavar="NAME=PRICE", callback=read_prices,
        help="Your price per chip and hour, instead of list prices.",
    ),
    click.option(
        "--gpu-utilisation", type=click.FloatRange(0, 100, min_open=True), metavar="PERCENT",
        callback=_share, help="Share of the bf16 peak that the GPU reaches; 40 is assumed.",
    ),
    click.option(
        "--tpu-utilisation", metavar="LOW,LIKELY,HIGH", callback=_shares,
        help="The same for the TPU; 20,40,50 is assumed.",
    ),
    click.option(
        "--hourly-rate", type=click.FloatRange(0, min_open=True), metavar="MONEY",
        help="Cost of one hour of migration work; adds the break-even.",
    ),
)  # fmt: skip


def money_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options about costs, passed as `money`."""

    @wraps(command)
    def folded(**values: Any) -> None:
        flags = MoneyFlags(*(values.pop(name) for name in _NAMES))
        flags.check()
        command(money=flags, **values)

    decorated: Callable[..., None] = folded
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
