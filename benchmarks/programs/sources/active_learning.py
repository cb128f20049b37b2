import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.utils.data import DataLoader, Dataset


# ------------------------------------------------------------------ data.py
class Handler(Dataset):
    def __init__(self, X, Y):
        self.X, self.Y = X, Y

    def __getitem__(self, index):
        x = torch.from_numpy(self.X[index]).float().unsqueeze(0)
        return (x - 0.5) / 0.5, int(self.Y[index]), index

    def __len__(self):
        return len(self.X)


class Data:
    def __init__(self, X_train, Y_train, X_test, Y_test):
        self.X_train, self.Y_train, self.X_test, self.Y_test = X_train, Y_train, X_test, Y_test
        self.n_pool = len(X_train)
        self.labeled_idxs = np.zeros(self.n_pool, dtype=bool)

    def initialize_labels(self, num):
        idxs = np.arange(self.n_pool)
        np.random.shuffle(idxs)
        self.labeled_idxs[idxs[:num]] = True

    def get_labeled_data(self):
        idxs = np.arange(self.n_pool)[self.labeled_idxs]
        return idxs, Handler(self.X_train[idxs], self.Y_train[idxs])

    def get_unlabeled_data(self):
        idxs = np.arange(self.n_pool)[~self.labeled_idxs]
        return idxs, Handler(self.X_train[idxs], self.Y_train[idxs])

    def get_train_data(self):
        return self.labeled_idxs.copy(), Handler(self.X_train, self.Y_train)

    def get_test_data(self):
        return Handler(self.X_test, self.Y_test)


def get_shapes(n_train, n_test, size=12, seed=0):
    """Bars, crosses, discs and frames."""
    rng = np.random.RandomState(seed)
    Y = rng.randint(0, 4, n_train + n_test)
    r, c = np.mgrid[:size, :size]
    X = np.empty((len(Y), size, size), dtype=np.float32)
    for i, y in enumerate(Y):
        a, b = rng.randint(4, 8, 2)
        bar, column, disc = abs(r - a) < 2, abs(c - b) < 2, (r - a) ** 2 + (c - b) ** 2
        X[i] = [bar, bar | column, disc < 12, (disc < 16) & (disc > 6)][y]
    X = np.clip(X + 0.25 * rng.randn(*X.shape), 0, 1)
    return Data(X[:n_train], Y[:n_train], X[n_train:], Y[n_train:])


# ------------------------------------------------------------------ nets.py
class ConvNet(nn.Module):
    def __init__(self, n_classes=4):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, n_classes)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(self.conv2_drop(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, 2).flatten(1)
        e1 = F.relu(self.fc1(x))
        return self.fc2(F.dropout(e1, training=self.training)), e1


class Net:
    def __init__(self, net, params, device):
        self.net, self.params, self.device = net, params, device

    def _loader(self, data, shuffle=False):
        return DataLoader(data, batch_size=self.params["batch_size"], shuffle=shuffle)

    def train(self, data):
        self.clf = self.net().to(self.device)
        self.clf.train()
        optimizer = optim.SGD(self.clf.parameters(), **self.params["optimizer_args"])
        stale, best = 0, float("inf")
        for epoch in range(1, self.params["n_epoch"] + 1):
            total = torch.zeros(1, device=self.device)
            for x, y, _idxs in self._loader(data, shuffle=True):
                x, y = x.to(self.device), y.to(self.device)
                optimizer.zero_grad()
                out, _e1 = self.clf(x)
                loss = F.cross_entropy(out, y)
                loss.backward()
                optimizer.step()
                total += loss.detach() * len(x)
            if total < best:
                best, stale = total, 0
            else:
                stale += 1
            if stale >= self.params["patience"]:
                print(f"  stopped at epoch {epoch}")
                break

    def predict(self, data):
        self.clf.eval()
        preds = torch.zeros(len(data), dtype=torch.long)
        with torch.no_grad():
            for x, _y, idxs in self._loader(data):
                out, _e1 = self.clf(x.to(self.device))
                preds[idxs] = out.max(1)[1].cpu()
        return preds

    def predict_prob(self, data):
        self.clf.eval()
        probs = torch.zeros([len(data), 4])
        with torch.no_grad():
            for x, _y, idxs in self._loader(data):
                out, _e1 = self.clf(x.to(self.device))
                probs[idxs] = F.softmax(out, dim=1).cpu()
        return probs

    def predict_prob_dropout_split(self, data, n_drop=4):
        self.clf.train()
        probs = torch.zeros([n_drop, len(data), 4], device=self.device)
        for i in range(n_drop):
            with torch.no_grad():
                for x, _y, idxs in self._loader(data):
                    out, _e1 = self.clf(x.to(self.device))
                    probs[i][idxs] += F.softmax(out, dim=1)
        return probs

    def get_embeddings(self, data):
        self.clf.eval()
        with torch.no_grad():
            return torch.cat([self.clf(x.to(self.device))[1] for x, _y, _idxs in self._loader(data)])


# ------------------------------------------------------------------ query_strategies
class Strategy:
    def __init__(self, dataset, net):
        self.dataset, self.net = dataset, net

    def query(self, n):
        raise NotImplementedError

    def update(self, pos_idxs):
        self.dataset.labeled_idxs[pos_idxs] = True

    def train(self):
        self.net.train(self.dataset.get_labeled_data()[1])


class RandomSampling(Strategy):
    def query(self, n):
        return np.random.choice(np.where(~self.dataset.labeled_idxs)[0], n, replace=False)


class MarginSampling(Strategy):
    def query(self, n):
        idxs, data = self.dataset.get_unlabeled_data()
        probs_sorted, _ = self.net.predict_prob(data).sort(descending=True)
        return idxs[(probs_sorted[:, 0] - probs_sorted[:, 1]).sort()[1][:n].numpy()]


class BALDDropout(Strategy):
    def query(self, n):
        idxs, data = self.dataset.get_unlabeled_data()
        probs = self.net.predict_prob_dropout_split(data)
        mean = probs.mean(0)
        entropy1 = (-mean * torch.log(mean + 1e-9)).sum(1)
        entropy2 = (-probs * torch.log(probs + 1e-9)).sum(2).mean(0)
        return idxs[torch.topk(entropy1 - entropy2, n).indices.cpu().numpy()]


class KCenterGreedy(Strategy):
    def query(self, n):
        labeled, data = self.dataset.get_train_data()
        embeddings = self.net.get_embeddings(data)
        mask = torch.from_numpy(labeled).to(embeddings.device)
        distance = torch.cdist(embeddings, embeddings[mask]).min(dim=1).values
        chosen = []
        for _ in range(n):
            distance[mask] = -1
            q = torch.argmax(distance).item()
            mask[q] = True
            chosen.append(q)
            distance = torch.minimum(distance, (embeddings - embeddings[q]).norm(dim=1))
        return np.array(chosen)


STRATEGIES = {s.__name__: s for s in (RandomSampling, MarginSampling, BALDDropout, KCenterGreedy)}

# ------------------------------------------------------------------ demo.py
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--n_init_labeled", type=int, default=24)
parser.add_argument("--n_query", type=int, default=4)
parser.add_argument("--n_round", type=int, default=2)
parser.add_argument("--strategies", nargs="+", default=["KCenterGreedy", "BALDDropout"], choices=STRATEGIES)
args = parser.parse_args()

if __name__ == "__main__":
    use_cuda = torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    params = {"n_epoch": 5, "patience": 2, "batch_size": 16, "optimizer_args": {"lr": 0.15, "momentum": 0.9}}
    for name in args.strategies:
        random.seed(args.seed)
        np.random.seed(args.seed)
        torch.manual_seed(args.seed)
        dataset = get_shapes(72, 32)
        dataset.initialize_labels(args.n_init_labeled)
        strategy = STRATEGIES[name](dataset, Net(ConvNet, params, device))
        for rd in range(args.n_round + 1):
            if rd > 0:
                strategy.update(strategy.query(args.n_query))
            strategy.train()
            preds = strategy.net.predict(dataset.get_test_data())
            acc = 1.0 * (torch.from_numpy(dataset.Y_test) == preds).sum().item() / len(preds)
            print(f"{name} round {rd}: {dataset.labeled_idxs.sum()} labels, testing accuracy {acc:.3f}")
