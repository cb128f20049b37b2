"""Answers that a process keeps from its last run over a program."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from xlamig.flow.model.outcomes import State

Answer = TypeVar("Answer")


@dataclass(slots=True)
class Remembered(Generic[Answer]):
    """The last answer to a question that each run asks."""

    question: object = None
    answer: Answer | None = None

    def ask(self, question: object, find: Callable[[], Answer]) -> Answer:
        """Return the last answer if the question, which is all that it depends on, is the same."""
        if self.answer is None or self.question != question:
            self.answer, self.question = find(), question
        return self.answer


@dataclass(slots=True)
class Answers:
    """They hold as long as the folders around the program are the same."""

    switches: Remembered[Mapping[str, State]] = field(default_factory=Remembered)
    reached_switches: Remembered[Mapping[str, State]] = field(default_factory=Remembered)
    unread: Remembered[dict[str, str]] = field(default_factory=Remembered)
