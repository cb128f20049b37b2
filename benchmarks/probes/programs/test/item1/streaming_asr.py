import torch
from torch import nn
import torch_xla
import torch_xla.core.xla_model as xm


class StreamingEncoderLayer(nn.Module):
    """Chunk-wise encoder that remembers all previous chunks."""

    def __init__(self, d_model=256, nhead=4):
        super().__init__()
        self.mha = nn.MultiheadAttention(d_model, nhead, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d_model, 4 * d_model), nn.GELU(), nn.Linear(4 * d_model, d_model))
        self.memory = None

    def reset(self):
        self.memory = None

    def forward(self, chunk):
        if self.memory is None:
            self.memory = chunk
        else:
            self.memory = torch.cat([self.memory, chunk], dim=1)  # expect: XLA302
        h, _ = self.mha(chunk, self.memory, self.memory, need_weights=False)
        return chunk + self.ff(h)


class Recognizer(nn.Module):
    def __init__(self, layers=4):
        super().__init__()
        self.inp = nn.Linear(80, 256)
        self.layers = nn.ModuleList(StreamingEncoderLayer() for _ in range(layers))
        self.out = nn.Linear(256, 1024)

    def forward(self, feats):
        h = self.inp(feats)
        for layer in self.layers:
            h = layer(h)
        return self.out(h)


@torch.no_grad()
def transcribe(model, audio_chunks, device):
    hyps = []
    for feats in audio_chunks:
        scores = model(feats.to(device))
        torch_xla.sync()
        hyps.extend(scores.argmax(-1).cpu().tolist())
    return hyps


if __name__ == "__main__":
    dev = xm.xla_device()
    asr = Recognizer().to(dev).eval()
    print(transcribe(asr, [torch.randn(1, 16, 80) for _ in range(50)], dev))
