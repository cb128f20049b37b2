import torch
import torch_xla.runtime as xr


def unwrap(model):
    while hasattr(model, "module"):
        model = model.module
    return model


def bundle(model, optimizer, epoch):
    return {"model": unwrap(model).state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}


def save_on_master(obj, path):
    if xr.global_ordinal() == 0:
        torch.save(obj, path)  # expect@a: XLA710|XLA906
