"""Sparse autoencoder on toy superposed activations, with resampling of dead units.

The "model" whose activations we explain is fake: sparse features embedded in fewer dimensions.
"""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--n_features", type=int, default=96)
parser.add_argument("--d_model", type=int, default=24)
parser.add_argument("--expansion", type=int, default=4)
parser.add_argument("--l1", type=float, default=1e-2)
parser.add_argument("--lr", type=float, default=3e-3)
parser.add_argument("--steps", type=int, default=18)
parser.add_argument("--batch_size", type=int, default=256)
parser.add_argument("--resample_every", type=int, default=4)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

torch.manual_seed(args.seed)
device = "cuda" if torch.cuda.is_available() else "cpu"

true_features = F.normalize(torch.randn(args.n_features, args.d_model, device=device), dim=-1)
# zipfian probabilities, so the last features are really rare
feature_probs = 0.3 / torch.arange(1, args.n_features + 1, device=device) ** 0.7


def get_activations(n):
    present = torch.rand(n, args.n_features, device=device) < feature_probs
    magnitude = torch.rand(n, args.n_features, device=device) + 0.5
    return (present * magnitude) @ true_features


class SAE(nn.Module):
    def __init__(self, d_in, d_hidden):
        super().__init__()
        self.W_enc = nn.Parameter(torch.empty(d_in, d_hidden))
        self.W_dec = nn.Parameter(torch.empty(d_hidden, d_in))
        self.b_enc = nn.Parameter(torch.full((d_hidden,), -1.5))
        self.b_dec = nn.Parameter(torch.zeros(d_in))
        nn.init.kaiming_uniform_(self.W_dec)
        self.W_dec.data = F.normalize(self.W_dec.data, dim=-1)
        self.W_enc.data = self.W_dec.data.t().clone()

    def encode(self, x):
        return F.relu((x - self.b_dec) @ self.W_enc + self.b_enc)

    def forward(self, x):
        acts = self.encode(x)
        recon = acts @ self.W_dec + self.b_dec
        return recon, acts

    @torch.no_grad()
    def remove_parallel_grad(self):
        # the decoder rows are unit vectors, only move along the sphere
        parallel = (self.W_dec.grad * self.W_dec).sum(-1, keepdim=True)
        self.W_dec.grad -= parallel * self.W_dec

    @torch.no_grad()
    def normalize_decoder(self):
        self.W_dec.data /= self.W_dec.data.norm(dim=-1, keepdim=True)


@torch.no_grad()
def resample(sae, optimizer, fired):
    dead = (fired == 0).nonzero().squeeze(-1)
    n_dead = dead.numel()
    if n_dead == 0:
        return 0
    x = get_activations(4 * args.batch_size)
    recon, _ = sae(x)
    errors = (x - recon).pow(2).sum(-1)
    # sample inputs in proportion to the squared loss on them
    picks = torch.multinomial(errors.pow(2), n_dead, replacement=True)
    directions = F.normalize(x[picks] - sae.b_dec, dim=-1)

    alive = fired > 0
    alive_norm = sae.W_enc[:, alive].norm(dim=0).mean() if alive.any() else 1.0
    sae.W_dec[dead] = directions
    sae.W_enc[:, dead] = directions.t() * alive_norm * 0.2
    sae.b_enc[dead] = 0.0
    for p, dim in ((sae.W_enc, 1), (sae.W_dec, 0), (sae.b_enc, 0)):
        for key in ("exp_avg", "exp_avg_sq"):
            optimizer.state[p][key].index_fill_(dim, dead, 0.0)
    return n_dead


@torch.no_grad()
def mean_max_cosine(sae):
    sims = true_features @ F.normalize(sae.W_dec, dim=-1).t()
    return sims.max(dim=-1).values.mean()


sae = SAE(args.d_model, args.d_model * args.expansion).to(device)
optimizer = torch.optim.Adam(sae.parameters(), lr=args.lr, betas=(0.0, 0.999))
fired = torch.zeros(args.d_model * args.expansion, device=device)

for step in range(1, args.steps + 1):
    x = get_activations(args.batch_size)
    recon, acts = sae(x)
    mse = (recon - x).pow(2).sum(-1).mean()
    sparsity = acts.abs().sum(-1).mean()
    loss = mse + args.l1 * sparsity

    optimizer.zero_grad()
    loss.backward()
    sae.remove_parallel_grad()
    optimizer.step()
    sae.normalize_decoder()

    fired += (acts > 0).float().sum(0)

    if step % 3 == 0:
        l0 = (acts > 0).float().sum(-1).mean()
        fvu = mse / (x - x.mean(0)).pow(2).sum(-1).mean()
        print(
            f"{step:4d} loss {loss.item():.4f} mse {mse.item():.4f} l0 {l0.item():.2f} fvu {fvu.item():.3f}"
        )

    if step % args.resample_every == 0:
        n = resample(sae, optimizer, fired)
        print(f"     resampled {n} dead units")
        fired.zero_()

print("mean max cosine similarity:", mean_max_cosine(sae).item())
