import torch
import torch.nn as nn
import torch_xla

PAD, BOS, EOS = 0, 1, 2


class CharRNN(nn.Module):
    def __init__(self, vocab=100, hid=256):
        super().__init__()
        self.emb = nn.Embedding(vocab, hid)
        self.cell = nn.Linear(2 * hid, hid)
        self.proj = nn.Linear(hid, vocab)

    def step(self, tok, state):
        state = torch.tanh(self.cell(torch.cat([self.emb(tok), state], -1)))  # silent
        return self.proj(state), state


@torch.no_grad()
def generate(rnn, batch, max_len, device):
    tok = torch.full((batch,), BOS, device=device)
    state = torch.zeros(batch, 256, device=device)
    finished = torch.zeros(batch, dtype=torch.bool, device=device)
    text = torch.full((batch, max_len), PAD, device=device)
    where = torch.zeros(1, dtype=torch.long, device=device)
    for _ in range(max_len):
        logits, state = rnn.step(tok, state)
        nxt = logits.argmax(-1)
        tok = torch.where(finished, torch.full_like(nxt, PAD), nxt)  # silent
        text.index_copy_(1, where, tok[:, None])  # silent
        finished = finished | (tok == EOS)  # silent
        where += 1
        torch_xla.sync()
    return text


if __name__ == "__main__":
    dev = torch_xla.device()
    rnn = CharRNN().to(dev).eval()
    for _ in range(5):
        print(generate(rnn, 32, 80, dev).cpu())
