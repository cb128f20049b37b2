"""The vocabulary: what can be true of a place in a PyTorch program. Facts name no target.

A rule page matches facts by the fields below, so a field's name is public. The analyser
(`flow/`, `artifacts/`) predicts facts, a real run (`observe/`) observes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xlamig.facts.apis import ApiUse, DeviceChoice, Kernel, Launch, Package
from xlamig.facts.common import (
    Argument,
    ContextTag,
    ContextTags,
    Fact,
    Guard,
    GuardKind,
    Scalar,
    Span,
    Value,
    Why,
)
from xlamig.facts.interest import Interest
from xlamig.facts.reads import Consumer, Cut, HostRead, Timing, Transfer
from xlamig.facts.shapes import (
    Cause,
    ChangingConstant,
    ChangingPath,
    ChangingShape,
    DynamicShape,
    NegativeSlice,
    Taker,
)
from xlamig.facts.steps import ModuleMove, RankCall, StepBoundary
from xlamig.facts.surroundings import Environment, ToolEvent

FACTS: Mapping[str, type[Fact]] = MappingProxyType(
    {
        cls.kind: cls
        for cls in (
            ApiUse,
            DeviceChoice,
            HostRead,
            DynamicShape,
            ChangingConstant,
            ChangingShape,
            ChangingPath,
            NegativeSlice,
            StepBoundary,
            ModuleMove,
            RankCall,
            Transfer,
            Timing,
            Package,
            Kernel,
            Launch,
            Environment,
            ToolEvent,
        )
    }
)

__all__ = [
    "FACTS",
    "ApiUse",
    "Argument",
    "Cause",
    "ChangingConstant",
    "ChangingPath",
    "ChangingShape",
    "Consumer",
    "ContextTag",
    "ContextTags",
    "Cut",
    "DeviceChoice",
    "DynamicShape",
    "Environment",
    "Fact",
    "Guard",
    "GuardKind",
    "HostRead",
    "Interest",
    "Kernel",
    "Launch",
    "ModuleMove",
    "NegativeSlice",
    "Package",
    "RankCall",
    "Scalar",
    "Span",
    "StepBoundary",
    "Taker",
    "Timing",
    "ToolEvent",
    "Transfer",
    "Value",
    "Why",
]
