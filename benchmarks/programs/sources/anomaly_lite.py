"""Anomaly detection on multivariate sensor data with a home-grown, Lightning-flavoured trainer."""
import glob, heapq, os, tempfile
from collections import defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


# ------------------------------------------------------------------ framework
class LiteModule(nn.Module):
    trainer = None

    def log(self, name, value, batch_size=1):
        value = value.detach() if torch.is_tensor(value) else torch.tensor(float(value))
        self.trainer.logged[name].append((value, batch_size))

    def on_validation_epoch_end(self): pass


class Callback:
    def on_train_batch_end(self, trainer, module, loss, batch_idx): pass
    def on_validation_end(self, trainer, module): pass


class EarlyStopping(Callback):
    def __init__(self, monitor, patience=2, min_delta=1e-3):
        self.monitor, self.patience, self.min_delta = monitor, patience, min_delta
        self.best, self.wait = float("inf"), 0

    def on_validation_end(self, trainer, module):
        current = trainer.metrics[self.monitor]
        if current < self.best - self.min_delta:
            self.best, self.wait = current, 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                print(f"  EarlyStopping: {self.monitor} has not improved for {self.wait} epochs (best {self.best:.4f})")
                trainer.should_stop = True


class ModelCheckpoint(Callback):
    """Keeps the top-k checkpoints plus last.pt."""

    def __init__(self, dirpath, monitor, save_top_k=2):
        self.dirpath, self.monitor, self.k, self.heap = dirpath, monitor, save_top_k, []

    def on_validation_end(self, trainer, module):
        score = trainer.metrics[self.monitor]
        path = os.path.join(self.dirpath, f"epoch={trainer.epoch}-{score:.4f}.pt")
        state = {"epoch": trainer.epoch, "model": module.state_dict(), "optimizer": trainer.optimizer.state_dict(),
                 "scheduler": trainer.scheduler.state_dict(), "score": score}
        torch.save(state, os.path.join(self.dirpath, "last.pt"))
        if len(self.heap) < self.k or score < -self.heap[0][0]:
            torch.save(state, path)
            heapq.heappush(self.heap, (-score, path))
            if len(self.heap) > self.k:
                os.remove(heapq.heappop(self.heap)[1])


class ProgressPrinter(Callback):
    def on_train_batch_end(self, trainer, module, loss, batch_idx):
        if batch_idx % 2 == 0:
            print(f"  epoch {trainer.epoch} batch {batch_idx} loss={loss.item():.4f}")

    def on_validation_end(self, trainer, module):
        lr = trainer.optimizer.param_groups[0]["lr"]
        print(f"epoch {trainer.epoch}: " + " ".join(f"{k}={v:.4f}" for k, v in trainer.metrics.items()) + f" lr={lr:g}")


class LiteTrainer:
    def __init__(self, max_epochs, callbacks=(), gradient_clip_val=None, device="cuda"):
        self.max_epochs, self.callbacks, self.clip = max_epochs, list(callbacks), gradient_clip_val
        self.device = torch.device(device)
        self.should_stop, self.epoch, self.global_step = False, 0, 0
        self.logged, self.metrics = defaultdict(list), {}

    def _call(self, hook, *args):
        for cb in self.callbacks:
            getattr(cb, hook)(self, self.module, *args)

    def _reduce_metrics(self):
        for name, pairs in self.logged.items():
            self.metrics[name] = float(sum(v.item() * n for v, n in pairs) / sum(n for _, n in pairs))
        self.logged.clear()

    @torch.no_grad()
    def validate(self, loader):
        self.module.eval()
        for i, batch in enumerate(loader):
            self.module.validation_step([b.to(self.device) for b in batch], i)
        self.module.on_validation_epoch_end()
        self._reduce_metrics()
        self._call("on_validation_end")

    def fit(self, module, train_loader, val_loader):
        self.module = module.to(self.device)
        module.trainer = self
        conf = module.configure_optimizers()
        self.optimizer, self.scheduler, monitor = conf["optimizer"], conf["lr_scheduler"], conf["monitor"]
        for self.epoch in range(self.max_epochs):
            module.train()
            for i, batch in enumerate(train_loader):
                loss = module.training_step([b.to(self.device) for b in batch], i)
                self.optimizer.zero_grad()
                loss.backward()
                if self.clip:
                    nn.utils.clip_grad_norm_(module.parameters(), self.clip)
                self.optimizer.step()
                self.global_step += 1
                self._call("on_train_batch_end", loss, i)
            self.validate(val_loader)
            self.scheduler.step(self.metrics[monitor])
            if self.should_stop:
                break


# ------------------------------------------------------------------ data
def simulate(length, channels=6, anomaly_rate=0.0, seed=0):
    rng = np.random.RandomState(seed)
    t = np.arange(length)
    periods = np.linspace(12, 40, channels)
    x = np.sin(2 * np.pi * t[:, None] / periods) + 0.3 * np.sin(2 * np.pi * t[:, None] / 96) + 0.1 * rng.randn(length, channels)
    label = np.zeros(length, dtype=np.float32)
    for _ in range(int(anomaly_rate * length / 15)):
        start, dur = rng.randint(0, length - 30), rng.randint(5, 25)
        ch = rng.choice(channels, 2, replace=False)
        if rng.rand() < 0.5:
            x[start:start + dur, ch] += rng.choice([-1, 1]) * rng.uniform(1.5, 3)
        else:
            x[start:start + dur, ch] = x[start, ch]
        label[start:start + dur] = 1
    return x.astype(np.float32), label


class Windows(Dataset):
    def __init__(self, x, y, size=48, stride=8):
        self.x, self.y, self.size = torch.from_numpy(x), torch.from_numpy(y), size
        self.starts = range(0, len(x) - size + 1, stride)

    def __len__(self):
        return len(self.starts)

    def __getitem__(self, i):
        s = self.starts[i]
        return self.x[s:s + self.size], self.y[s:s + self.size]


# ------------------------------------------------------------------ model
class GRUAutoencoder(LiteModule):
    def __init__(self, channels=6, hidden=40, latent=8, lr=1e-2):
        super().__init__()
        self.encoder = nn.GRU(channels, hidden, batch_first=True)
        self.to_latent = nn.Linear(hidden, latent)
        self.from_latent = nn.Linear(latent, hidden)
        self.decoder = nn.GRU(latent, hidden, batch_first=True)
        self.head = nn.Linear(hidden, channels)
        self.lr, self.val_scores = lr, []

    def forward(self, x):
        _, h = self.encoder(x)
        z = self.to_latent(h[-1])
        out, _ = self.decoder(z.unsqueeze(1).expand(-1, x.size(1), -1), torch.tanh(self.from_latent(z)).unsqueeze(0))
        return self.head(out)

    def training_step(self, batch, batch_idx):
        x, _ = batch
        loss = F.smooth_l1_loss(self(x + 0.05 * torch.randn_like(x)), x)
        self.log("train_loss", loss, len(x))
        return loss

    def validation_step(self, batch, batch_idx):
        x, _ = batch
        rec = self(x)
        self.log("val_loss", F.smooth_l1_loss(rec, x), len(x))
        self.val_scores.append((rec - x).pow(2).mean(-1).flatten())

    def on_validation_epoch_end(self):
        self.threshold = torch.quantile(torch.cat(self.val_scores), 0.98).item()
        self.log("threshold", self.threshold)
        self.val_scores.clear()

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.lr)
        sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, factor=0.3, patience=0, threshold=0.02)
        return {"optimizer": opt, "lr_scheduler": sched, "monitor": "val_loss"}


@torch.no_grad()
def test(model, loader, device, threshold):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        rec = model(x.to(device))
        scores.append((rec.cpu() - x).pow(2).mean(-1).flatten().numpy())
        labels.append(y.flatten().numpy())
    scores, labels = np.concatenate(scores), np.concatenate(labels) > 0
    pred = scores > threshold
    tp, fp, fn = (pred & labels).sum(), (pred & ~labels).sum(), (~pred & labels).sum()
    order = scores.argsort().argsort() + 1.0
    auc = (order[labels].sum() - labels.sum() * (labels.sum() + 1) / 2) / (labels.sum() * (~labels).sum())
    print(f"test: precision {tp / max(1, tp + fp):.3f} recall {tp / max(1, tp + fn):.3f} auc {auc:.3f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    train = DataLoader(Windows(*simulate(1100, seed=1)), batch_size=32, shuffle=True)
    val = DataLoader(Windows(*simulate(400, seed=2)), batch_size=32)
    test_dl = DataLoader(Windows(*simulate(600, anomaly_rate=0.1, seed=3), stride=48), batch_size=8)
    model = GRUAutoencoder()
    with tempfile.TemporaryDirectory() as tmp:
        ckpt = ModelCheckpoint(tmp, "val_loss", save_top_k=2)
        trainer = LiteTrainer(5, [ProgressPrinter(), EarlyStopping("val_loss", patience=2, min_delta=5e-3), ckpt], gradient_clip_val=1.0)
        trainer.fit(model, train, val)
        print("kept:", sorted(os.path.basename(p) for p in glob.glob(tmp + "/*.pt")))
        best = torch.load(max(ckpt.heap)[1], map_location=trainer.device, weights_only=False)
        model.load_state_dict(best["model"])
        test(model, test_dl, trainer.device, model.threshold)
