from dataclasses import dataclass, field


@dataclass
class OptimConfig:
    lr: float = 3e-4
    weight_decay: float = 0.05


@dataclass
class Config:
    width: int = 256
    depth: int = 4
    steps: int = 2000
    device: str = "cuda"  # expect@a: XLA001|XLA003
    optim: OptimConfig = field(default_factory=OptimConfig)
