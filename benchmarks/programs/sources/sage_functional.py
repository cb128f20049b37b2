# GraphSAGE with layer-wise neighbour sampling on a stochastic block model.
# No nn.Module: parameters are a dict of tensors, everything else is a function.
import functools
import operator
import time

import numpy as np
import torch
import torch.nn.functional as F

device = torch.device('cuda')


# ---------------------------------------------------------------- graph

def sbm_graph(n=2400, k=5, p_in=0.013, p_out=0.001, dim=24, noise=2.5, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    prob = np.where(y[:, None] == y[None, :], p_in, p_out)
    upper = np.triu(rng.random((n, n)) < prob, 1)
    src, dst = np.nonzero(upper | upper.T)           # sorted by src -> CSR for free
    indptr = np.searchsorted(src, np.arange(n + 1))
    centers = rng.normal(size=(k, dim))
    x = centers[y] + noise * rng.normal(size=(n, dim))
    perm = rng.permutation(n)
    split = dict(train=perm[:n // 5], val=perm[n // 5: n // 2], test=perm[n // 2:])
    return dict(indptr=indptr, indices=dst, x=x.astype(np.float32), y=y, split=split, k=k)


def sample_layer(g, seeds, fanout, rng):
    """-> (nodes, src, dst) where nodes[:len(seeds)] == seeds and src/dst index into nodes."""
    cols, rows = [], []
    for i, v in enumerate(seeds):
        nb = g['indices'][g['indptr'][v]:g['indptr'][v + 1]]
        if fanout is not None and len(nb) > fanout:
            nb = rng.choice(nb, fanout, replace=False)
        cols.append(nb)
        rows.append(np.full(len(nb), i))
    cols, rows = np.concatenate(cols), np.concatenate(rows)
    extra = np.setdiff1d(cols, seeds)
    nodes = np.concatenate([seeds, extra])
    lookup = np.full(len(g['y']), -1)
    lookup[nodes] = np.arange(len(nodes))
    return nodes, lookup[cols], rows


def sample_blocks(g, seeds, fanouts, rng):
    blocks, nodes = [], seeds
    for f in reversed(fanouts):
        n_dst = len(nodes)
        nodes, src, dst = sample_layer(g, nodes, f, rng)
        blocks.append((torch.from_numpy(src).to(device), torch.from_numpy(dst).to(device), n_dst))
    return nodes, blocks[::-1]


def minibatches(ids, size, rng):
    ids = rng.permutation(ids)
    return (ids[i:i + size] for i in range(0, len(ids), size))


# ---------------------------------------------------------------- model

def init_params(dims, gen):
    def glorot(i, o):
        return ((torch.rand(i, o, generator=gen) * 2 - 1) * (6 / (i + o)) ** 0.5).to(device).requires_grad_()
    params = {}
    for l, (i, o) in enumerate(zip(dims[:-1], dims[1:])):
        params[f'self{l}'], params[f'neigh{l}'] = glorot(i, o), glorot(i, o)
        params[f'bias{l}'] = torch.zeros(o, device=device, requires_grad=True)
    return params


def mean_aggregate(h, src, dst, n_dst):
    out = torch.zeros(n_dst, h.shape[1], device=h.device, dtype=h.dtype)
    out = out.index_add(0, dst, h[src])
    deg = torch.bincount(dst, minlength=n_dst).clamp(min=1)
    return out / deg.unsqueeze(1)


def sage_layer(params, l, h, block):
    src, dst, n_dst = block
    return h[:n_dst] @ params[f'self{l}'] + mean_aggregate(h, src, dst, n_dst) @ params[f'neigh{l}'] + params[f'bias{l}']


def forward(params, x, blocks, dropout=0.0):
    h = x
    for l, block in enumerate(blocks):
        if dropout:
            h = F.dropout(h, dropout)
        h = sage_layer(params, l, h, block)
        if l < len(blocks) - 1:
            h = F.normalize(F.relu(h), dim=-1)
    return h


# ---------------------------------------------------------------- adam, by hand

def adam_init(params):
    return dict(t=0, m={k: torch.zeros_like(p) for k, p in params.items()}, v={k: torch.zeros_like(p) for k, p in params.items()})


@torch.no_grad()
def adam_step(params, grads, state, lr, b1=0.9, b2=0.999, eps=1e-8, wd=5e-4):
    state['t'] += 1
    c1, c2 = 1 - b1 ** state['t'], 1 - b2 ** state['t']
    for (k, p), g in zip(params.items(), grads):
        if not k.startswith('bias'):
            g = g + wd * p
        state['m'][k].mul_(b1).add_(g, alpha=1 - b1)
        state['v'][k].mul_(b2).addcmul_(g, g, value=1 - b2)
        p.sub_(lr * (state['m'][k] / c1) / ((state['v'][k] / c2).sqrt() + eps))


# ---------------------------------------------------------------- training

def train_epoch(g, X, Y, params, state, rng, fanouts, batch_size, lr):
    losses, sizes = [], []
    for seeds in minibatches(g['split']['train'], batch_size, rng):
        nodes, blocks = sample_blocks(g, seeds, fanouts, rng)
        x, y = X[torch.from_numpy(nodes).to(device)], Y[torch.from_numpy(seeds).to(device)]
        loss = F.cross_entropy(forward(params, x, blocks, dropout=0.2), y)
        grads = torch.autograd.grad(loss, list(params.values()))
        adam_step(params, grads, state, lr)
        losses.append(loss.item() * len(seeds))
        sizes.append(len(nodes))
    return sum(losses) / len(g['split']['train']), sizes


@torch.no_grad()
def full_graph_logits(g, X, params, n_layers):
    src = torch.from_numpy(g['indices']).to(device)
    dst = torch.from_numpy(np.repeat(np.arange(len(g['y'])), np.diff(g['indptr']))).to(device)
    return forward(params, X, [(src, dst, len(g['y']))] * n_layers)


def accuracy(logits, y, idx):
    idx = torch.from_numpy(idx).to(logits.device)
    return (logits[idx].argmax(1) == y[idx]).float().mean().item()


def confusion(pred, y, k):
    return torch.bincount(y * k + pred, minlength=k * k).view(k, k)


def main(hidden=48, fanouts=(4, 6), batch_size=100, epochs=4, lr=0.02):
    g = sbm_graph()
    rng = np.random.default_rng(11)
    torch.manual_seed(11)
    X, Y = torch.from_numpy(g['x']).to(device), torch.from_numpy(g['y']).to(device)
    params = init_params([X.shape[1], hidden, g['k']], torch.Generator().manual_seed(5))
    n_params = functools.reduce(operator.add, (p.numel() for p in params.values()))
    print(f"{len(g['y'])} nodes, {len(g['indices'])} directed edges, {n_params} parameters")
    state, best, best_params = adam_init(params), 0.0, None
    for epoch in range(epochs):
        t0 = time.time()
        loss, sizes = train_epoch(g, X, Y, params, state, rng, fanouts, batch_size, lr)
        logits = full_graph_logits(g, X, params, len(fanouts))
        acc = {s: accuracy(logits, Y, idx) for s, idx in g['split'].items()}
        if acc['val'] > best:
            best, best_params = acc['val'], {k: p.detach().clone() for k, p in params.items()}
        print(f'epoch {epoch:2d}  loss {loss:.4f}  ' + '  '.join(f'{s} {a:.3f}' for s, a in acc.items())
              + f'  input nodes/batch {min(sizes)}-{max(sizes)}  {time.time() - t0:.2f}s')
    logits = full_graph_logits(g, X, best_params, len(fanouts))
    test = torch.from_numpy(g['split']['test']).to(device)
    print(f"best val {best:.3f} -> test {accuracy(logits, Y, g['split']['test']):.3f}")
    print(confusion(logits[test].argmax(1), Y[test], g['k']).cpu().numpy())


if __name__ == '__main__':
    main()
