import torch
import torch.nn as nn
import torch.nn.functional as F
import torch_xla


def top_k(logits, thres=0.9):
    k = max(1, int((1 - thres) * logits.shape[-1]))
    val, ind = torch.topk(logits, k)
    return torch.full_like(logits, float("-inf")).scatter(-1, ind, val)


class AutoregressiveWrapper(nn.Module):
    def __init__(self, net, window=64):
        super().__init__()
        self.net = net
        self.window = window

    @torch.no_grad()
    def generate(self, start, seq_len, eos_token=None, temperature=1.0):
        context = start
        result = []
        finished = torch.zeros(start.shape[0], dtype=torch.bool, device=start.device)
        for _ in range(seq_len):  # expect@a: XLA402
            logits = self.net(context)[:, -1]  # expect@a: XLA402
            probs = F.softmax(top_k(logits) / temperature, dim=-1)
            sample = torch.multinomial(probs, 1)
            result.append(sample)
            context = torch.cat((context[:, 1:], sample), dim=-1)  # expect@a: XLA402
            if eos_token is not None:
                finished = finished | (sample[:, 0] == eos_token)
                if finished.all():
                    break
        return torch.cat(result, dim=-1)


class Net(nn.Module):
    def __init__(self, vocab=256, d=128, window=64):
        super().__init__()
        self.emb = nn.Embedding(vocab, d)
        self.layer = nn.TransformerEncoderLayer(d, 4, batch_first=True)
        self.out = nn.Linear(d, vocab)

    def forward(self, ids):
        return self.out(self.layer(self.emb(ids)))


if __name__ == "__main__":
    device = torch_xla.device()
    model = AutoregressiveWrapper(Net()).to(device).eval()
    prime = torch.zeros(2, 64, dtype=torch.long, device=device)
    print(model.generate(prime, 1024).cpu())
