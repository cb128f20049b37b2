import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.distributed.parallel_loader as pl
import torch_xla.runtime as xr
from datasets import load_from_disk
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from transformers import AutoModelForCausalLM, AutoTokenizer, default_data_collator


def main(index):
    device = torch_xla.device()
    tok = AutoTokenizer.from_pretrained("gpt2")
    lm = AutoModelForCausalLM.from_pretrained("gpt2").to(device)
    data = load_from_disk("blocks_1024").with_format("torch")
    sampler = DistributedSampler(data, num_replicas=xr.world_size(), rank=xr.global_ordinal(), shuffle=True)
    loader = DataLoader(data, batch_size=4, sampler=sampler, drop_last=True, collate_fn=default_data_collator)
    loader = pl.MpDeviceLoader(loader, device)
    optimizer = torch.optim.AdamW(lm.parameters(), lr=5e-5)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        lm.train()
        for batch in loader:
            loss = lm(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            xm.optimizer_step(optimizer)
        if xr.global_ordinal() == 0:
            lm.save_pretrained(f"out/epoch{epoch}")  # expect: XLA710|XLA906
            tok.save_pretrained(f"out/epoch{epoch}")


if __name__ == "__main__":
    torch_xla.launch(main)
