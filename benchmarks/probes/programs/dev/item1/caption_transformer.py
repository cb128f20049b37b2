import torch
from torch import nn
import torch_xla


class LayerWithPast(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.k = nn.Linear(width, width)
        self.v = nn.Linear(width, width)
        self.q = nn.Linear(width, width)

    def forward(self, h, layer_past):
        k, v = self.k(h), self.v(h)
        if layer_past is not None:
            past_k, past_v = layer_past
            k = torch.cat([past_k, k], 1)  # expect: XLA302
            v = torch.cat([past_v, v], 1)  # expect: XLA302
        w = torch.softmax(self.q(h) @ k.mT / h.size(-1) ** 0.5, -1)
        return h + w @ v, (k, v)


class Captioner(nn.Module):
    def __init__(self, n_layer=6, width=192, vocab=4000):
        super().__init__()
        self.layers = nn.ModuleList(LayerWithPast(width) for _ in range(n_layer))
        self.emb = nn.Embedding(vocab, width)
        self.lm = nn.Linear(width, vocab)

    def forward(self, ids, prefix=None, past_key_values=None):
        h = self.emb(ids) if prefix is None else prefix
        if past_key_values is None:
            past_key_values = (None,) * len(self.layers)
        presents = ()
        for layer, past in zip(self.layers, past_key_values):
            h, present = layer(h, past)
            presents = presents + (present,)
        return self.lm(h), presents


def caption(model, features, max_len=32):
    logits, pkv = model(None, prefix=features)
    word = logits[:, -1].argmax(-1, keepdim=True)
    words = [word]
    while len(words) < max_len:
        logits, pkv = model(word, past_key_values=pkv)
        word = logits[:, -1].argmax(-1, keepdim=True)
        words.append(word)
        torch_xla.sync()
    return torch.cat(words, 1)


if __name__ == "__main__":
    dev = torch_xla.device()
    m = Captioner().to(dev).eval()
    with torch.no_grad():
        for batch in torch.randn(10, 8, 49, 192):
            print(caption(m, batch.to(dev)).cpu())
