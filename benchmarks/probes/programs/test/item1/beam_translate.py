import torch
import torch.nn as nn
import torch_xla


class Translator(nn.Module):
    def __init__(self, vocab, hid):
        super().__init__()
        self.tgt_emb = nn.Embedding(vocab, hid)
        layer = nn.TransformerDecoderLayer(hid, 8, batch_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2)
        self.generator = nn.Linear(hid, vocab)

    def forward(self, tgt, memory):
        out = self.decoder(self.tgt_emb(tgt), memory)
        return torch.log_softmax(self.generator(out[:, -1]), dim=-1)


def beam_search(model, memory, beam_size=4, max_length=60, bos=2, eos=3):
    device = memory.device
    batch_size = memory.size(0)
    memory = memory.repeat_interleave(beam_size, dim=0)
    alive_seq = torch.full((batch_size * beam_size, 1), bos, dtype=torch.long, device=device)
    topk_log_probs = torch.tensor([0.0] + [float("-inf")] * (beam_size - 1), device=device).repeat(batch_size)
    beam_offset = torch.arange(0, batch_size * beam_size, beam_size, device=device)

    for step in range(max_length):
        log_probs = model(alive_seq, memory)
        vocab_size = log_probs.size(-1)
        scores = log_probs + topk_log_probs.view(-1, 1)
        topk_scores, topk_ids = scores.view(batch_size, beam_size * vocab_size).topk(beam_size, dim=-1)
        topk_log_probs = topk_scores.view(-1)
        origin = torch.div(topk_ids, vocab_size, rounding_mode="floor")
        select = (origin + beam_offset.unsqueeze(1)).view(-1)
        alive_seq = torch.cat([alive_seq.index_select(0, select), (topk_ids % vocab_size).view(-1, 1)], -1)  # expect: XLA302
        torch_xla.sync()
    return alive_seq


def main():
    device = torch_xla.device()
    nmt = Translator(8000, 256).to(device).eval()
    with torch.no_grad():
        for _ in range(20):
            enc = torch.randn(8, 40, 256).to(device)
            print(beam_search(nmt, enc).cpu().tolist())


if __name__ == "__main__":
    main()
