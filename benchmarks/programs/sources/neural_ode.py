"""Fit a vector field to one noisy spiral with a hand-written Runge-Kutta integrator. Pure functions only."""

import argparse
from functools import partial
from itertools import pairwise

import numpy as np
import torch


def init_params(key, sizes, device):
    g = torch.Generator().manual_seed(key)
    params = []
    for n_in, n_out in pairwise(sizes):
        w = torch.randn(n_in, n_out, generator=g) * (1.0 / n_in) ** 0.5
        params.append((w.to(device).requires_grad_(), torch.zeros(n_out, device=device).requires_grad_()))
    return params


def flatten(params):
    return [t for layer in params for t in layer]


def field(params, t, y):
    h = y**3
    for w, b in params[:-1]:
        h = torch.tanh(h @ w + b)
    w, b = params[-1]
    return h @ w + b


def euler_step(f, t, dt, y):
    return y + dt * f(t, y)


def rk4_step(f, t, dt, y):
    k1 = f(t, y)
    k2 = f(t + dt / 2, y + dt / 2 * k1)
    k3 = f(t + dt / 2, y + dt / 2 * k2)
    k4 = f(t + dt, y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def integrate(f, y0, ts, step=rk4_step):
    ys = [y0]
    for t0, t1 in pairwise(ts):
        ys.append(step(f, t0, t1 - t0, ys[-1]))
    return torch.stack(ys)


def true_dynamics(a, t, y):
    return (y**3) @ a


def make_spiral(n, device, noise=0.01):
    a = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], device=device)
    ts = torch.linspace(0.0, 2.0, n, device=device)
    ys = integrate(partial(true_dynamics, a), torch.tensor([[2.0, 0.0]], device=device), ts)
    return ts, ys + noise * torch.randn_like(ys)


def sample_windows(rng, ts, ys, batch_size, window):
    starts = rng.choice(len(ts) - window, batch_size, replace=False)
    starts = torch.from_numpy(starts).to(ys.device)
    y0 = ys[starts]
    target = torch.stack([ys[starts + i] for i in range(window)])
    return y0, ts[:window], target


def loss_fn(params, y0, ts, target, step):
    pred = integrate(partial(field, params), y0, ts, step)
    return (pred - target).abs().mean()


def sgd_momentum(params, velocity, lr, mu=0.9):
    with torch.no_grad():
        for p, v in zip(flatten(params), velocity, strict=True):
            v.mul_(mu).add_(p.grad)
            p.sub_(lr * v)
            p.grad = None


def rmsprop(params, state, lr, rho=0.99, eps=1e-7):
    with torch.no_grad():
        for p, s in zip(flatten(params), state, strict=True):
            s.mul_(rho).addcmul_(p.grad, p.grad, value=1 - rho)
            p.sub_(lr * p.grad / (s.sqrt() + eps))
            p.grad = None


OPTIMIZERS = {"sgd": sgd_momentum, "rmsprop": rmsprop}
STEPPERS = {"euler": euler_step, "rk4": rk4_step}


def trajectory_error(params, ts, ys, step):
    with torch.no_grad():
        pred = integrate(partial(field, params), ys[0], ts, step)
        return torch.mean(torch.abs(pred - ys))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--points", type=int, default=20)
    p.add_argument("--window", type=int, default=4)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--method", choices=STEPPERS, default="rk4")
    p.add_argument("--optimizer", choices=OPTIMIZERS, default="rmsprop")
    p.add_argument("--test-freq", type=int, default=4)
    args = p.parse_args()

    device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
    rng = np.random.default_rng(0)
    torch.manual_seed(0)

    ts, ys = make_spiral(args.points, device)
    params = init_params(1, (2, 32, 32, 2), device)
    update = OPTIMIZERS[args.optimizer]
    step = STEPPERS[args.method]
    state = [torch.zeros_like(t) for t in flatten(params)]

    ema, best = None, float("inf")
    for it in range(1, args.steps + 1):
        batch = sample_windows(rng, ts, ys, args.batch_size, args.window)
        loss = loss_fn(params, *batch, step)
        loss.backward()
        update(params, state, args.lr)
        ema = loss.item() if ema is None else 0.97 * ema + 0.03 * loss.item()

        if it % args.test_freq == 0:
            err = trajectory_error(params, ts, ys, step)
            if err < best:
                best = err
            print(f"iter {it:04d} | train {ema:.5f} | trajectory error {err:.5f} | best {best:.5f}")


if __name__ == "__main__":
    main()
