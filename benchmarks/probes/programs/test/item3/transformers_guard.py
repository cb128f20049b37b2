import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer
from transformers.utils import is_torch_xla_available

if is_torch_xla_available():
    import torch_xla
    import torch_xla.core.xla_model as xm

    device = xm.xla_device()  # silent: XLA003
elif torch.cuda.is_available():  # silent: XLA003|XLA013
    device = torch.device("cuda")  # silent: XLA003|XLA001
else:
    device = torch.device("cpu")  # silent: XLA003


def sync():
    if is_torch_xla_available():
        torch_xla.sync()


@torch.no_grad()
def fill(model, tok, sentences):
    for s in sentences:
        enc = tok(s, padding="max_length", max_length=32, truncation=True, return_tensors="pt").to(device)  # silent
        logits = model(**enc).logits
        best = logits.argmax(-1)
        sync()
        yield tok.decode(best[0].cpu())


if __name__ == "__main__":
    tok = AutoTokenizer.from_pretrained("bert-base-uncased")
    net = AutoModelForMaskedLM.from_pretrained("bert-base-uncased").to(device).eval()
    for text in fill(net, tok, ["Paris is the [MASK] of France.", "Water is [MASK]."]):
        print(text)
