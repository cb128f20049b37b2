import torch.nn as nn
import torch.nn.functional as F


class SelfAttn(nn.Module):
    def __init__(self, layer_idx, dim=128, heads=4):
        super().__init__()
        self.layer_idx, self.heads = layer_idx, heads
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(dim, dim, bias=False) for _ in range(4))

    def forward(self, x, store):
        b, n, d = x.shape
        heads = lambda t: t.view(b, n, self.heads, -1).transpose(1, 2)
        q, k, v = heads(self.wq(x)), heads(self.wk(x)), heads(self.wv(x))
        k, v = store.extend(self.layer_idx, k, v)
        o = F.scaled_dot_product_attention(q, k, v)
        return x + self.wo(o.transpose(1, 2).reshape(b, n, d))


class LM(nn.Module):
    def __init__(self, vocab=2048, dim=128, depth=4):
        super().__init__()
        self.tok = nn.Embedding(vocab, dim)
        self.blocks = nn.ModuleList(SelfAttn(i, dim) for i in range(depth))
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids, store):
        h = self.tok(ids)
        for blk in self.blocks:
            h = blk(h, store)
        return self.out(h)
