"""Deep Knowledge Tracing (Piech et al., 2015) on simulated students.

Usage: python knowledge_tracing.py --emb_size 32 --num_epochs 4
"""

import argparse
import random
import time

import numpy as np
import torch
import torch.nn as nn
from torch.nn.functional import binary_cross_entropy, one_hot
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=3407)
parser.add_argument("--num_skills", type=int, default=20)
parser.add_argument("--num_students", type=int, default=120)
parser.add_argument("--max_len", type=int, default=30)
parser.add_argument("--emb_size", type=int, default=32)
parser.add_argument("--dropout", type=float, default=0.2)
parser.add_argument("--batch_size", type=int, default=32)
parser.add_argument("--num_epochs", type=int, default=5)
parser.add_argument("--learning_rate", type=float, default=1e-2)
parser.add_argument("--patience", type=int, default=3)
parser.add_argument("--save_path", type=str, default="")
args = parser.parse_args()

device = "cuda" if torch.cuda.is_available() else "cpu"


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)


def simulate_students(n):
    """One-parameter IRT with learning: each attempt on a skill makes the next one easier."""
    difficulty = np.random.randn(args.num_skills)
    sequences = []
    for _ in range(n):
        ability = np.random.randn() * 0.8
        practice = np.zeros(args.num_skills)
        length = np.random.randint(8, args.max_len + 1)
        skills, responses = [], []
        skill = np.random.randint(args.num_skills)
        for _ in range(length):
            if np.random.rand() < 0.35:
                skill = np.random.randint(args.num_skills)
            p = 1 / (1 + np.exp(-(ability + 0.5 * practice[skill] - difficulty[skill])))
            skills.append(skill)
            responses.append(int(np.random.rand() < p))
            practice[skill] += 1
        sequences.append((skills, responses))
    return sequences


class KTDataset(Dataset):
    def __init__(self, sequences, pad_val=-1):
        self.concepts, self.responses, self.masks = [], [], []
        for skills, responses in sequences:
            pad = [pad_val] * (args.max_len - len(skills))
            self.concepts.append(skills + pad)
            self.responses.append(responses + pad)
        self.concepts = torch.LongTensor(self.concepts)
        self.responses = torch.LongTensor(self.responses)
        self.masks = (self.concepts[:, :-1] != pad_val) & (self.concepts[:, 1:] != pad_val)

    def __len__(self):
        return len(self.concepts)

    def __getitem__(self, index):
        mask = self.masks[index]
        return {
            "cseqs": self.concepts[index][:-1] * mask,
            "rseqs": self.responses[index][:-1] * mask,
            "shft_cseqs": self.concepts[index][1:] * mask,
            "shft_rseqs": self.responses[index][1:] * mask,
            "masks": mask,
        }


class DKT(nn.Module):
    def __init__(self, num_c, emb_size, dropout=0.1):
        super().__init__()
        self.num_c = num_c
        self.interaction_emb = nn.Embedding(num_c * 2, emb_size)
        self.lstm_layer = nn.LSTM(emb_size, emb_size, batch_first=True)
        self.dropout_layer = nn.Dropout(dropout)
        self.out_layer = nn.Linear(emb_size, num_c)

    def forward(self, q, r):
        x = q + self.num_c * r
        xemb = self.interaction_emb(x)
        h, _ = self.lstm_layer(xemb)
        h = self.dropout_layer(h)
        return torch.sigmoid(self.out_layer(h))


def cal_loss(y, rshft, sm):
    y = torch.masked_select(y, sm)
    t = torch.masked_select(rshft, sm)
    return binary_cross_entropy(y, t.float())


def auc_score(trues, scores):
    order = np.argsort(scores)
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    n_pos = trues.sum()
    n_neg = len(trues) - n_pos
    return (ranks[trues == 1].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


def evaluate(model, loader):
    with torch.no_grad():
        y_trues, y_scores = [], []
        for data in loader:
            c, r = data["cseqs"].to(device), data["rseqs"].to(device)
            cshft, rshft = data["shft_cseqs"].to(device), data["shft_rseqs"].to(device)
            sm = data["masks"].to(device)
            model.eval()
            y = model(c, r)
            y = (y * one_hot(cshft.long(), args.num_skills)).sum(-1)
            y = torch.masked_select(y, sm).detach().cpu()
            t = torch.masked_select(rshft, sm).detach().cpu()
            y_trues.append(t.numpy())
            y_scores.append(y.numpy())
    ts = np.concatenate(y_trues, axis=0)
    ps = np.concatenate(y_scores, axis=0)
    acc = np.mean((ps >= 0.5) == ts)
    return auc_score(ts, ps), acc


def train():
    set_seed(args.seed)
    sequences = simulate_students(args.num_students)
    split = int(0.8 * len(sequences))
    train_loader = DataLoader(KTDataset(sequences[:split]), batch_size=args.batch_size, shuffle=True)
    valid_loader = DataLoader(KTDataset(sequences[split:]), batch_size=args.batch_size)

    model = DKT(args.num_skills, args.emb_size, args.dropout).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=args.learning_rate)

    max_auc, best_epoch, train_step = 0, -1, 0
    for i in range(1, args.num_epochs + 1):
        loss_mean = []
        start = time.time()
        for data in train_loader:
            train_step += 1
            model.train()
            c, r = data["cseqs"].to(device), data["rseqs"].to(device)
            cshft, rshft = data["shft_cseqs"].to(device), data["shft_rseqs"].to(device)
            sm = data["masks"].to(device)
            y = model(c, r)
            y = (y * one_hot(cshft.long(), args.num_skills)).sum(-1)
            loss = cal_loss(y, rshft, sm)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_mean.append(loss.detach().cpu().numpy())
        auc, acc = evaluate(model, valid_loader)
        if auc > max_auc + 1e-3:
            if args.save_path:
                torch.save(model.state_dict(), args.save_path)
            max_auc, best_epoch = auc, i
        print(
            f"Epoch: {i}, validauc: {auc:.4f}, validacc: {acc:.4f}, best epoch: {best_epoch}, "
            f"train loss: {np.mean(loss_mean):.4f}, time: {time.time() - start:.1f}s"
        )
        if i - best_epoch >= args.patience:
            break
    print(f"best auc: {max_auc:.4f} at epoch {best_epoch}, {train_step} steps")


if __name__ == "__main__":
    train()
