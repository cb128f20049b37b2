"""Exact Gaussian process regression in one file: kernels, likelihood, fitting, prediction."""

from __future__ import annotations

import abc
import argparse
import logging
import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

logger = logging.getLogger("gp")


class NotPSDError(RuntimeError):
    """Raised when a covariance matrix stays indefinite with the largest jitter."""


def psd_safe_cholesky(a: Tensor, jitter: float = 1e-6, max_tries: int = 4) -> Tensor:
    """Cholesky factor of ``a``, with as little added to the diagonal as is needed."""
    factor, info = torch.linalg.cholesky_ex(a)
    if not torch.any(info):
        return factor
    if torch.isnan(a).any():
        raise NotPSDError(f"{int(torch.isnan(a).sum())} of {a.numel()} elements are NaN")
    for attempt in range(max_tries):
        added = jitter * 10**attempt
        factor, info = torch.linalg.cholesky_ex(a + added * torch.eye(a.shape[-1]).to(a))
        if not torch.any(info):
            logger.warning("A not p.d., added jitter of %.1e to the diagonal", added)
            return factor
    raise NotPSDError(f"not positive definite after adding {added:.1e}")


def inverse_softplus(value: float) -> float:
    return math.log(math.expm1(value))


class Kernel(nn.Module, abc.ABC):
    """A covariance function with a positive output scale."""

    def __init__(self, outputscale: float = 1.0) -> None:
        super().__init__()
        self.raw_outputscale = nn.Parameter(torch.tensor(inverse_softplus(outputscale)))

    @property
    def outputscale(self) -> Tensor:
        return softplus(self.raw_outputscale)

    @abc.abstractmethod
    def correlation(self, x1: Tensor, x2: Tensor) -> Tensor: ...

    def forward(self, x1: Tensor, x2: Tensor | None = None) -> Tensor:
        return self.outputscale * self.correlation(x1, x1 if x2 is None else x2)

    def diagonal(self, x: Tensor) -> Tensor:
        return self.outputscale.expand(x.shape[0])

    def __add__(self, other: Kernel) -> SumKernel:
        return SumKernel(self, other)


class RBF(Kernel):
    def __init__(self, dims: int, lengthscale: float = 1.0, outputscale: float = 1.0) -> None:
        super().__init__(outputscale)
        self.raw_lengthscale = nn.Parameter(torch.full((dims,), inverse_softplus(lengthscale)))

    def correlation(self, x1: Tensor, x2: Tensor) -> Tensor:
        scale = softplus(self.raw_lengthscale)
        x1, x2 = x1 / scale, x2 / scale
        squared = x1.pow(2).sum(-1, keepdim=True) + x2.pow(2).sum(-1) - 2 * x1 @ x2.mT
        return torch.exp(-0.5 * squared.clamp_min(0))


class Periodic(Kernel):
    def __init__(self, period: float = 1.0, lengthscale: float = 1.0, outputscale: float = 1.0) -> None:
        super().__init__(outputscale)
        self.raw_period = nn.Parameter(torch.tensor(inverse_softplus(period)))
        self.raw_lengthscale = nn.Parameter(torch.tensor(inverse_softplus(lengthscale)))

    def correlation(self, x1: Tensor, x2: Tensor) -> Tensor:
        distance = (x1[:, None, :] - x2[None, :, :]).abs().sum(-1)
        sine = torch.sin(math.pi * distance / softplus(self.raw_period))
        return torch.exp(-2 * (sine / softplus(self.raw_lengthscale)).pow(2))


class SumKernel(Kernel):
    def __init__(self, *parts: Kernel) -> None:
        nn.Module.__init__(self)
        self.parts = nn.ModuleList(parts)

    def correlation(self, x1: Tensor, x2: Tensor) -> Tensor:
        raise NotImplementedError("a sum has no single output scale")

    def forward(self, x1: Tensor, x2: Tensor | None = None) -> Tensor:
        return torch.stack([part(x1, x2) for part in self.parts]).sum(dim=0)

    def diagonal(self, x: Tensor) -> Tensor:
        return torch.stack([part.diagonal(x) for part in self.parts]).sum(dim=0)


class Posterior(NamedTuple):
    mean: Tensor
    variance: Tensor

    def interval(self, z: float = 1.96) -> tuple[Tensor, Tensor]:
        half = z * self.variance.sqrt()
        return self.mean - half, self.mean + half


class ExactGP(nn.Module):
    def __init__(self, kernel: Kernel, noise: float = 0.1) -> None:
        super().__init__()
        self.kernel = kernel
        self.mean = nn.Parameter(torch.zeros(()))
        self.raw_noise = nn.Parameter(torch.tensor(inverse_softplus(noise)))
        self._cache: tuple[Tensor, Tensor, Tensor] | None = None

    @property
    def noise(self) -> Tensor:
        return softplus(self.raw_noise) + 1e-4

    def _factorise(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        covariance = self.kernel(x) + self.noise * torch.eye(len(x), dtype=x.dtype, device=x.device)
        factor = psd_safe_cholesky(covariance)
        alpha = torch.cholesky_solve((y - self.mean).unsqueeze(-1), factor)
        return factor, alpha

    def negative_mll(self, x: Tensor, y: Tensor) -> Tensor:
        """Negative log marginal likelihood per observation."""
        factor, alpha = self._factorise(x, y)
        fit = 0.5 * (y - self.mean) @ alpha.squeeze(-1)
        complexity = factor.diagonal().log().sum()
        return (fit + complexity + 0.5 * len(x) * math.log(2 * math.pi)) / len(x)

    def condition(self, x: Tensor, y: Tensor) -> ExactGP:
        with torch.no_grad():
            self._cache = (x, *self._factorise(x, y))
        return self

    @torch.no_grad()
    def predict(self, x: Tensor, *, observation_noise: bool = True) -> Posterior:
        if self._cache is None:
            raise RuntimeError("condition() the model on data first")
        train_x, factor, alpha = self._cache
        cross = self.kernel(train_x, x)
        mean = self.mean + (cross.mT @ alpha).squeeze(-1)
        half = torch.linalg.solve_triangular(factor, cross, upper=False)
        variance = (self.kernel.diagonal(x) - half.pow(2).sum(dim=0)).clamp_min(1e-10)
        return Posterior(mean, variance + self.noise if observation_noise else variance)


def fit(
    model: ExactGP,
    x: Tensor,
    y: Tensor,
    *,
    steps: int,
    lr: float = 0.1,
    tolerance: float = 1e-5,
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Maximise the marginal likelihood; stops when it no longer changes."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    history: list[float] = []
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        loss = model.negative_mll(x, y)
        loss.backward()
        optimizer.step()
        history.append(float(loss))
        if on_step is not None:
            on_step(step, history[-1])
        if len(history) > 1 and abs(history[-1] - history[-2]) < tolerance:
            logger.info("converged after %d steps", step + 1)
            break
    return history


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--steps", type=int, default=25)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")

    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def truth(x: Tensor) -> Tensor:
        return torch.sin(2 * math.pi * x).squeeze(-1) + 0.4 * x.squeeze(-1)

    train_x = torch.rand(args.points, 1, device=device) * 3
    train_y = truth(train_x) + 0.15 * torch.randn(args.points, device=device)
    test_x = torch.linspace(0, 3.5, 40, device=device).unsqueeze(-1)

    model = ExactGP(RBF(dims=1, lengthscale=2.0) + Periodic(period=0.9)).to(device)

    def report(step: int, loss: float) -> None:
        if step % 5 == 0:
            logger.info("step %3d  nmll %.4f  noise %.4f", step, loss, model.noise.item())

    fit(model, train_x, train_y, steps=args.steps, on_step=report)
    posterior = model.condition(train_x, train_y).predict(test_x)
    lower, upper = posterior.interval()
    target = truth(test_x)
    rmse = (posterior.mean - target).pow(2).mean().sqrt()
    coverage = ((target >= lower) & (target <= upper)).double().mean()
    logger.info("rmse %.4f  coverage of the 95%% interval %.2f", rmse, coverage)


if __name__ == "__main__":
    main()
