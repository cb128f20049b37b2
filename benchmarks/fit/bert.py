"""BERT base of transformers, masked language modelling on random tokens, as a CUDA program."""

import argparse

import torch
from transformers import BertConfig, BertForMaskedLM

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--length", type=int, default=512)
args = parser.parse_args()
model = BertForMaskedLM(BertConfig()).cuda().train()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for _ in range(10):
    tokens = torch.randint(0, 30522, (args.batch_size, args.length)).cuda()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(input_ids=tokens, labels=tokens).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
