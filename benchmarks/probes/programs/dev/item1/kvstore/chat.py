import torch
import torch_xla

from cache import KeyValueStore
from model import LM


def reply(lm, prompt, n_new):
    store = KeyValueStore()
    logits = lm(prompt, store)
    token = logits[:, -1:].argmax(-1)
    answer = [token]
    for _ in range(n_new - 1):
        token = lm(token, store)[:, -1:].argmax(-1)
        answer.append(token)
        torch_xla.sync()
    return torch.cat(answer, dim=1)


if __name__ == "__main__":
    device = torch_xla.device()
    lm = LM().to(device).eval()
    prompt = torch.zeros(1, 32, dtype=torch.long, device=device)
    with torch.no_grad():
        for turn in range(10):
            print(reply(lm, prompt, 64).cpu())
