"""A Llama of 1.24 billion parameters (transformers), made on the meta device, for torch_xla."""

import argparse

import torch
import torch_xla
from transformers import LlamaConfig, LlamaForCausalLM

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=2)
parser.add_argument("--length", type=int, default=2048)
args = parser.parse_args()
config = LlamaConfig(
    vocab_size=128256,
    hidden_size=2048,
    intermediate_size=8192,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
    tie_word_embeddings=True,
    use_cache=False,
)
with torch.device("meta"):
    model = LlamaForCausalLM(config).to(torch.bfloat16)
model.to_empty(device=torch_xla.device())  # no memory of the host, until somebody gives them values
model.tie_weights()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(10):
    tokens = torch.randint(0, config.vocab_size, (args.batch_size, args.length)).to(torch_xla.device())
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch_xla.sync()
