"""Model-agnostic meta-learning on sine waves: an inner loop that is differentiated through."""

from __future__ import annotations

import argparse

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.func import functional_call


class SineTasks:
    """Regression tasks that differ in amplitude and phase."""

    def __init__(self, seed: int) -> None:
        self.generator = torch.Generator().manual_seed(seed)

    def _uniform(self, low: float, high: float, *shape: int) -> Tensor:
        return low + (high - low) * torch.rand(*shape, generator=self.generator)

    def sample(self, tasks: int, support: int, query: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        amplitude = self._uniform(0.1, 5.0, tasks, 1, 1)
        phase = self._uniform(0.0, 3.14, tasks, 1, 1)
        x = self._uniform(-5.0, 5.0, tasks, support + query, 1)
        y = amplitude * torch.sin(x + phase)
        return x[:, :support], y[:, :support], x[:, support:], y[:, support:]


class MAML:
    def __init__(self, model: nn.Module, inner_lr: float, inner_steps: int, first_order: bool) -> None:
        self.model = model
        self.inner_lr, self.inner_steps, self.first_order = inner_lr, inner_steps, first_order

    def adapt(self, x: Tensor, y: Tensor, steps: int | None = None) -> dict[str, Tensor]:
        """The parameters after a few steps on the support set, still a function of the initial ones."""
        params = dict(self.model.named_parameters())
        for _ in range(steps or self.inner_steps):
            loss = F.mse_loss(functional_call(self.model, params, (x,)), y)
            grads = torch.autograd.grad(loss, params.values(), create_graph=not self.first_order)
            params = {
                name: param - self.inner_lr * grad
                for (name, param), grad in zip(params.items(), grads, strict=True)
            }
        return params

    def query_loss(self, x_s: Tensor, y_s: Tensor, x_q: Tensor, y_q: Tensor) -> Tensor:
        return F.mse_loss(functional_call(self.model, self.adapt(x_s, y_s), (x_q,)), y_q)


def meta_train(maml: MAML, tasks: SineTasks, args: argparse.Namespace, device: torch.device) -> None:
    optimizer = torch.optim.Adam(maml.model.parameters(), lr=args.meta_lr)
    for step in range(args.steps):
        x_s, y_s, x_q, y_q = (t.to(device) for t in tasks.sample(args.meta_batch, args.shots, args.shots))
        meta_loss = torch.stack(
            [maml.query_loss(x_s[i], y_s[i], x_q[i], y_q[i]) for i in range(args.meta_batch)]
        ).mean()
        optimizer.zero_grad()
        meta_loss.backward()
        for param in maml.model.parameters():
            param.grad.data.clamp_(-10, 10)
        optimizer.step()
        if step % 3 == 0:
            print(f"iteration {step}: meta loss {meta_loss.item():.4f}")


def meta_test(maml: MAML, tasks: SineTasks, args: argparse.Namespace, device: torch.device) -> None:
    x_s, y_s, x_q, y_q = (t.to(device)[0] for t in tasks.sample(1, args.shots, 10))
    for steps in (1, 2, 4):
        adapted = maml.adapt(x_s, y_s, steps)
        with torch.no_grad():
            loss = F.mse_loss(functional_call(maml.model, adapted, (x_q,)), y_q)
        print(f"after {steps} steps: query loss {loss.item():.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--meta-batch", type=int, default=2)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--inner-lr", type=float, default=0.01)
    parser.add_argument("--inner-steps", type=int, default=1)
    parser.add_argument("--meta-lr", type=float, default=1e-2)
    parser.add_argument("--first-order", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))
    maml = MAML(model.to(device), args.inner_lr, args.inner_steps, args.first_order)
    meta_train(maml, SineTasks(seed=0), args, device)
    meta_test(maml, SineTasks(seed=1), args, device)


if __name__ == "__main__":
    main()
