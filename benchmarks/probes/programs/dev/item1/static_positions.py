import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


class CachedAttention(nn.Module):
    def __init__(self, dim, heads, max_batch, max_len):
        super().__init__()
        self.heads = heads
        self.wqkv = nn.Linear(dim, 3 * dim, bias=False)
        self.wo = nn.Linear(dim, dim, bias=False)
        hd = dim // heads
        self.register_buffer("k_cache", torch.zeros(max_batch, heads, max_len, hd), persistent=False)
        self.register_buffer("v_cache", torch.zeros(max_batch, heads, max_len, hd), persistent=False)

    def forward(self, x, pos):
        b, t, d = x.shape
        q, k, v = self.wqkv(x).chunk(3, -1)
        q, k, v = (z.view(b, t, self.heads, -1).transpose(1, 2) for z in (q, k, v))
        self.k_cache.index_copy_(2, pos, k)  # silent
        self.v_cache.index_copy_(2, pos, v)  # silent
        ok = torch.arange(self.k_cache.shape[2], device=x.device)[None, :] <= pos[:, None]
        y = F.scaled_dot_product_attention(q, self.k_cache, self.v_cache, attn_mask=ok)
        return self.wo(y.transpose(1, 2).reshape(b, t, d))


@torch.no_grad()
def decode(steps=200):
    device = torch_xla.device()
    emb = nn.Embedding(1000, 128).to(device)
    attn = CachedAttention(128, 4, 2, 256).to(device)
    head = nn.Linear(128, 1000).to(device)
    token = torch.zeros(2, 1, dtype=torch.long, device=device)
    pos = torch.zeros(1, dtype=torch.long, device=device)
    for _ in range(steps):
        x = emb(token)
        token = head(x + attn(x, pos)).argmax(-1)
        pos = pos + 1  # silent
        torch_xla.sync()
    return token


if __name__ == "__main__":
    print(decode().cpu())
