import torch
import torch.nn as nn
import torch_xla


class PINN(nn.Module):
    def __init__(self, width=32, depth=4):
        super().__init__()
        dims = [2] + [width] * depth + [1]
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(dims[:-1], dims[1:]))

    def forward(self, xt):
        for layer in self.layers[:-1]:
            xt = torch.tanh(layer(xt))
        return self.layers[-1](xt)


def residual(net, pts):
    pts = pts.requires_grad_(True)
    u = net(pts)
    g = torch.autograd.grad(u.sum(), pts, create_graph=True)[0]
    u_x, u_t = g[:, :1], g[:, 1:]
    u_xx = torch.autograd.grad(u_x.sum(), pts, create_graph=True)[0][:, :1]
    return u_t + u * u_x - 0.01 * u_xx


def main():
    device = torch_xla.device()
    net = PINN().to(device)
    inner = torch.rand(4096, 2).to(device)
    start = torch.cat([torch.linspace(-1, 1, 256)[:, None], torch.zeros(256, 1)], 1).to(device)
    target = -torch.sin(torch.pi * start[:, :1])
    solver = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, line_search_fn="strong_wolfe")  # expect@a: XLA411

    def closure():
        solver.zero_grad()
        loss = residual(net, inner).pow(2).mean() + (net(start) - target).pow(2).mean()
        loss.backward()
        return loss

    for it in range(500):
        solver.step(closure)  # expect@a: XLA411
        torch_xla.sync()


if __name__ == "__main__":
    main()
