import torch
import torch.nn.functional as F
import torch_xla
from einops import pack, rearrange
from torch import nn


class MaskedDecoder(nn.Module):
    def __init__(self, num_tokens=256, dim=256, depth=4, heads=8):
        super().__init__()
        self.token_emb = nn.Embedding(num_tokens, dim)
        layer = nn.TransformerEncoderLayer(dim, heads, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.to_logits = nn.Linear(dim, num_tokens)

    def forward(self, ids):
        n = ids.shape[1]
        causal = torch.ones(n, n, dtype=torch.bool, device=ids.device).triu(1)
        return self.to_logits(self.layers(self.token_emb(ids), mask=causal))


def gumbel_sample(logits, temperature=1.0):
    noise = -torch.log(-torch.log(torch.rand_like(logits).clamp(min=1e-9)).clamp(min=1e-9))
    return (logits / temperature + noise).argmax(dim=-1)


@torch.no_grad()
def sample(net, prompt, seq_len, temperature=0.9):
    out = prompt
    for _ in range(seq_len):
        logits = net(out)[:, -1]
        token = gumbel_sample(logits, temperature)
        out, _ = pack([out, rearrange(token, "b -> b 1")], "b *")  # expect: XLA302
        torch_xla.sync()
    return out


if __name__ == "__main__":
    device = torch_xla.device()
    net = MaskedDecoder().to(device).eval()
    for _ in range(16):
        start = torch.zeros(4, 1, dtype=torch.long, device=device)
        print(sample(net, start, 128).cpu())
