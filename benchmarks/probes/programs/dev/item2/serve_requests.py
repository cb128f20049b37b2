import sys

import torch
import torch_xla
from transformers import AutoModel, AutoTokenizer


class Embedder:
    def __init__(self, name="BAAI/bge-small-en-v1.5"):
        self.device = torch_xla.device()
        self.tok = AutoTokenizer.from_pretrained(name)
        self.net = AutoModel.from_pretrained(name).eval().to(self.device)

    @torch.no_grad()
    def embed(self, text):
        enc = self.tok(text, return_tensors="pt", truncation=True).to(self.device)  # expect@a: XLA904
        hidden = self.net(**enc).last_hidden_state  # expect@a: XLA904
        vec = torch.nn.functional.normalize(hidden[:, 0], dim=-1)
        torch_xla.sync()
        return vec.cpu().numpy()[0]


def main():
    service = Embedder()
    for request in sys.stdin:
        vec = service.embed(request.strip())
        print(" ".join(f"{v:.4f}" for v in vec), flush=True)


if __name__ == "__main__":
    main()
