import torch
import torch.nn as nn
from transformers import AutoModelForCausalLM, AutoTokenizer

if torch.backends.mps.is_available():  # expect@a: XLA003
    DEVICE = "mps"
elif torch.cuda.is_available():  # expect@a: XLA003|XLA001
    DEVICE = "cuda"  # expect@a: XLA003|XLA001
else:
    DEVICE = "cpu"  # expect@a: XLA003


def perplexity(model, ids, stride=512):
    total, count = 0.0, 0
    crit = nn.CrossEntropyLoss(reduction="sum")
    for i in range(0, ids.numel() - stride, stride):
        window = ids[i : i + stride].unsqueeze(0).to(DEVICE)
        with torch.no_grad():
            logits = model(window).logits
        total += crit(logits[0, :-1], window[0, 1:]).item()
        count += stride - 1
    return torch.tensor(total / count).exp().item()


def main(name="gpt2"):
    tok = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name).to(DEVICE).eval()
    ids = tok(open("wiki.test.txt").read(), return_tensors="pt").input_ids[0]
    print("ppl", perplexity(model, ids))


if __name__ == "__main__":
    main()
