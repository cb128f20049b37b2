import torch
import torch_xla
from torch import nn


class StepNet(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.gru = nn.GRUCell(d, d)
        self.inp = nn.Embedding(300, d)
        self.out = nn.Linear(d, 300)

    def forward(self, tok, h):
        h = self.gru(self.inp(tok), h)
        return self.out(h), h


@torch.no_grad()
def sample_molecules(net, n, max_len, eos_id, device):
    tok = torch.zeros(n, dtype=torch.long, device=device)
    h = torch.zeros(n, 64, device=device)
    ids = torch.arange(n, device=device)
    result = torch.zeros(n, max_len, dtype=torch.long, device=device)
    for t in range(max_len):
        logits, h = net(tok, h)
        tok = torch.distributions.Categorical(logits=logits, validate_args=False).sample()
        result[ids, t] = tok
        done = tok == eos_id
        tok = tok[~done]  # expect: XLA202
        h = h[~done]  # expect: XLA202
        ids = ids[~done]  # expect: XLA202
        torch_xla.sync()
        if ids.numel() == 0:
            break
    return result


def main():
    device = torch_xla.device()
    net = StepNet().to(device).eval()
    for _ in range(30):
        smiles = sample_molecules(net, 256, 100, eos_id=2, device=device)
        print(smiles.cpu()[:2])


if __name__ == "__main__":
    main()
