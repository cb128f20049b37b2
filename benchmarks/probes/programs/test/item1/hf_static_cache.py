import argparse

import torch
import torch_xla
from transformers import AutoModelForCausalLM, AutoTokenizer, StaticCache


def build(name, device):
    tok = AutoTokenizer.from_pretrained(name, padding_side="left")
    tok.pad_token = tok.pad_token or tok.eos_token
    lm = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16).to(device).eval()
    return tok, lm


@torch.no_grad()
def answer(lm, enc, new_tokens, max_len, device):
    bsz, plen = enc["input_ids"].shape
    cache = StaticCache(config=lm.config, max_batch_size=bsz, max_cache_len=max_len, device=device, dtype=lm.dtype)  # silent
    position = torch.arange(plen, device=device)
    out = lm(**enc, past_key_values=cache, cache_position=position, use_cache=True)
    token = out.logits[:, -1:].argmax(-1)
    position = position[-1:] + 1
    produced = [token]
    torch_xla.sync()
    for _ in range(new_tokens - 1):
        out = lm(token, past_key_values=cache, cache_position=position, use_cache=True)  # silent: XLA302
        token = out.logits[:, -1:].argmax(-1)
        produced.append(token)  # silent: XLA302|XLA303
        position = position + 1
        torch_xla.sync()
    return torch.cat(produced, dim=1)  # silent: XLA302|XLA303


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="HuggingFaceTB/SmolLM2-135M")
    a = ap.parse_args()
    dev = torch_xla.device()
    tok, lm = build(a.model, dev)
    for prompt in ["The capital of France is", "Two plus two equals"]:
        enc = tok([prompt], padding="max_length", max_length=64, truncation=True, return_tensors="pt").to(dev)
        ids = answer(lm, enc, 32, 128, dev).cpu()
        print(tok.batch_decode(ids))
