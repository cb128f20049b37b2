"""A training run for tests."""

from __future__ import annotations

from xlamig.observations import Optimizer, Parameter, Spot, Training

GRADIENTS = {"Net.first.weight": (1.0, 0.5), "Net.head.weight": (2.0, -1.0)}
TRAINED = Training(
    losses=(2.0, 1.8, 1.5, 1.2, 1.0, 0.9, 0.8, 0.7),
    draws=(1, 2, 3, 4, 5, 6, 7, 8),
    parameters=(
        Parameter("Net.first.weight", (2, 4), "xla", (0.3, 0.1)),
        Parameter("Net.head.weight", (2, 2), "xla", (0.2, -0.1)),
    ),
    optimizers=(Optimizer("SGD", Spot("train.py", 9, 1, 9, 40), 8, (GRADIENTS, GRADIENTS, GRADIENTS)),),
    started={"Net.first.weight": (3.0, 1.0), "Net.head.weight": (2.0, 1.0), "Net.norm.mean": (0.0, 0.0)},
    state={"Net.first.weight": (3.1, 1.1), "Net.head.weight": (2.1, 0.9), "Net.norm.mean": (1.0, 0.5)},
    outputs={"Net": ((4.0, 1.0),)},
)
