# Insincere questions: BiLSTM + attention pooling, K folds, threshold search on OOF predictions
import gc
import os
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class CFG:
    debug = False
    seed = 2019
    n_fold = 2
    epochs = 3
    batch_size = 32
    max_features = 300
    maxlen = 24
    embed_size = 32
    hidden_size = 24
    lr = 5e-3
    max_grad_norm = 5.0
    n_train = 192
    n_test = 64


def seed_everything(seed=2019):
    random.seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed(seed)
    torch.backends.cudnn.deterministic = True


device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def load_and_prec():
    """Some words make a question insincere; order and padding are as after pad_sequences."""
    rng = np.random.RandomState(CFG.seed)
    bad_words = rng.choice(np.arange(1, CFG.max_features), 25, replace=False)
    n = CFG.n_train + CFG.n_test
    X = np.zeros((n, CFG.maxlen), dtype=np.int64)
    y = np.zeros(n, dtype=np.float32)
    for i in range(n):
        length = rng.randint(6, CFG.maxlen + 1)
        words = rng.randint(1, CFG.max_features, length)
        if rng.rand() < 0.3:
            words[rng.choice(length, 3, replace=False)] = rng.choice(bad_words, 3)
            y[i] = 1.0
        X[i, -length:] = words
    embedding_matrix = rng.normal(0, 0.3, (CFG.max_features, CFG.embed_size)).astype(np.float32)
    return X[: CFG.n_train], X[CFG.n_train :], y[: CFG.n_train], embedding_matrix


class Attention(nn.Module):
    def __init__(self, feature_dim, step_dim, bias=True):
        super().__init__()
        self.bias = bias
        self.feature_dim = feature_dim
        self.step_dim = step_dim
        weight = torch.zeros(feature_dim, 1)
        nn.init.xavier_uniform_(weight)
        self.weight = nn.Parameter(weight)
        if bias:
            self.b = nn.Parameter(torch.zeros(step_dim))

    def forward(self, x, mask=None):
        eij = torch.mm(x.contiguous().view(-1, self.feature_dim), self.weight).view(-1, self.step_dim)
        if self.bias:
            eij = eij + self.b
        eij = torch.tanh(eij)
        a = torch.exp(eij)
        if mask is not None:
            a = a * mask
        a = a / torch.sum(a, 1, keepdim=True) + 1e-10
        weighted_input = x * torch.unsqueeze(a, -1)
        return torch.sum(weighted_input, 1)


class NeuralNet(nn.Module):
    def __init__(self, embedding_matrix):
        super().__init__()
        self.embedding = nn.Embedding(CFG.max_features, CFG.embed_size)
        self.embedding.weight = nn.Parameter(torch.tensor(embedding_matrix, dtype=torch.float32))
        self.embedding.weight.requires_grad = False
        self.embedding_dropout = nn.Dropout2d(0.1)
        self.lstm = nn.LSTM(CFG.embed_size, CFG.hidden_size, bidirectional=True, batch_first=True)
        self.gru = nn.GRU(CFG.hidden_size * 2, CFG.hidden_size, bidirectional=True, batch_first=True)
        self.lstm_attention = Attention(CFG.hidden_size * 2, CFG.maxlen)
        self.gru_attention = Attention(CFG.hidden_size * 2, CFG.maxlen)
        self.linear = nn.Linear(CFG.hidden_size * 8, 16)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        h_embedding = self.embedding(x)
        h_embedding = torch.squeeze(self.embedding_dropout(torch.unsqueeze(h_embedding, 0)), 0)
        h_lstm, _ = self.lstm(h_embedding)
        h_gru, _ = self.gru(h_lstm)
        h_lstm_atten = self.lstm_attention(h_lstm, (x > 0).float())
        h_gru_atten = self.gru_attention(h_gru)
        avg_pool = torch.mean(h_gru, 1)
        max_pool, _ = torch.max(h_gru, 1)
        conc = torch.cat((h_lstm_atten, h_gru_atten, avg_pool, max_pool), 1)
        conc = self.relu(self.linear(conc))
        conc = self.dropout(conc)
        return self.out(conc)


def f1_score(y_true, y_pred):
    tp = ((y_pred == 1) & (y_true == 1)).sum()
    return 2 * tp / max(y_pred.sum() + y_true.sum(), 1)


def threshold_search(y_true, y_proba):
    best_threshold, best_score = 0, 0
    for threshold in [i * 0.01 for i in range(100)]:
        score = f1_score(y_true=y_true, y_pred=y_proba > threshold)
        if score > best_score:
            best_threshold, best_score = threshold, score
    return {"threshold": best_threshold, "f1": best_score}


def train_fold(fold, trn_idx, val_idx, x_train, y_train, test_loader, embedding_matrix):
    x_trn = torch.tensor(x_train[trn_idx], dtype=torch.long).to(device)
    y_trn = torch.tensor(y_train[trn_idx, np.newaxis], dtype=torch.float32).to(device)
    x_val = torch.tensor(x_train[val_idx], dtype=torch.long).to(device)
    y_val = torch.tensor(y_train[val_idx, np.newaxis], dtype=torch.float32).to(device)
    train_loader = DataLoader(TensorDataset(x_trn, y_trn), batch_size=CFG.batch_size, shuffle=True)
    valid_loader = DataLoader(TensorDataset(x_val, y_val), batch_size=CFG.batch_size, shuffle=False)

    model = NeuralNet(embedding_matrix)
    model.to(device)
    loss_fn = nn.BCEWithLogitsLoss(reduction="sum")
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=CFG.lr)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=CFG.lr * 2, epochs=CFG.epochs, steps_per_epoch=len(train_loader)
    )

    for epoch in range(CFG.epochs):
        start_time = time.time()
        model.train()
        avg_loss = 0.0
        for x_batch, y_batch in train_loader:
            y_pred = model(x_batch)
            loss = loss_fn(y_pred, y_batch)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CFG.max_grad_norm)
            optimizer.step()
            scheduler.step()
            avg_loss += loss.item() / len(train_loader)

        model.eval()
        valid_preds_fold = np.zeros(x_val.size(0))
        avg_val_loss = 0.0
        for i, (x_batch, y_batch) in enumerate(valid_loader):
            with torch.no_grad():
                y_pred = model(x_batch).detach()
            avg_val_loss += loss_fn(y_pred, y_batch).item() / len(valid_loader)
            valid_preds_fold[i * CFG.batch_size : (i + 1) * CFG.batch_size] = (
                torch.sigmoid(y_pred).cpu().numpy()[:, 0]
            )
        elapsed_time = time.time() - start_time
        print(
            f"Fold {fold} Epoch {epoch + 1}/{CFG.epochs} \t loss={avg_loss:.4f} \t "
            f"val_loss={avg_val_loss:.4f} \t time={elapsed_time:.2f}s"
        )

    test_preds_fold = []
    for (x_batch,) in test_loader:
        with torch.no_grad():
            y_pred = model(x_batch.to(device))
        test_preds_fold.append(F.sigmoid(y_pred).cpu().numpy()[:, 0])
    del model, optimizer
    gc.collect()
    torch.cuda.empty_cache()
    return valid_preds_fold, np.concatenate(test_preds_fold)


if __name__ == "__main__":
    seed_everything(CFG.seed)
    x_train, x_test, y_train, embedding_matrix = load_and_prec()
    test_loader = DataLoader(TensorDataset(torch.tensor(x_test)), batch_size=CFG.batch_size, shuffle=False)

    folds = np.random.RandomState(CFG.seed).permutation(len(x_train)) % CFG.n_fold
    train_preds = np.zeros(len(x_train))
    test_preds = np.zeros(len(x_test))
    for fold in range(CFG.n_fold):
        trn_idx, val_idx = np.where(folds != fold)[0], np.where(folds == fold)[0]
        oof, tst = train_fold(fold, trn_idx, val_idx, x_train, y_train, test_loader, embedding_matrix)
        train_preds[val_idx] = oof
        test_preds += tst / CFG.n_fold

    search_result = threshold_search(y_train, train_preds)
    print(search_result)
    submission = (test_preds > search_result["threshold"]).astype(int)
    print("submission:", submission[:20], "positive:", submission.mean())
