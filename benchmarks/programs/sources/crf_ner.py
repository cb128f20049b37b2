# ruff: noqa: B007, UP008, UP031
# BiLSTM-CRF named entity tagger, one sentence at a time (Lample et al. 2016).
# Tested with pytorch 0.4 / python 3.6
from __future__ import print_function  # noqa: UP010

import argparse
import random
import time

import torch
import torch.nn as nn
import torch.optim as optim
from torch.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", default=2, type=int)
parser.add_argument("--sentences", default=10, type=int)
parser.add_argument("--lr", default=0.015, type=float)
parser.add_argument("--clip", default=5.0, type=float)
parser.add_argument("--dropout", default=0.5, type=float)
opt = parser.parse_args()

use_gpu = torch.cuda.is_available()
random.seed(1234)
torch.manual_seed(1234)

START_TAG, STOP_TAG = "<START>", "<STOP>"
tag_to_id = {"O": 0, "B-PER": 1, "I-PER": 2, "B-LOC": 3, START_TAG: 4, STOP_TAG: 5}
id_to_tag = {v: k for k, v in tag_to_id.items()}

FIRST = ["anna", "peter", "maria", "john"]
LAST = ["smith", "jones", "novak"]
PLACE = ["paris", "oslo", "berlin", "rome"]
OTHER = ["went", "to", "saw", "in", "with", "and", "yesterday", "again", "left", "the"]
word_to_id = {w: i for i, w in enumerate(FIRST + LAST + PLACE + OTHER)}


def make_sentence():
    words, tags = [], []
    while len(words) < 4 or (random.random() < 0.6 and len(words) < 10):
        r = random.random()
        if r < 0.25:
            words += [random.choice(FIRST), random.choice(LAST)]
            tags += ["B-PER", "I-PER"]
        elif r < 0.45:
            words.append(random.choice(PLACE))
            tags.append("B-LOC")
        else:
            words.append(random.choice(OTHER))
            tags.append("O")
    return {"words": [word_to_id[w] for w in words], "tags": [tag_to_id[t] for t in tags]}


def log_sum_exp(vec, dim):
    max_score, _ = torch.max(vec, dim)
    return max_score + torch.log(torch.sum(torch.exp(vec - max_score.unsqueeze(dim)), dim))


class BiLSTM_CRF(nn.Module):
    def __init__(self, vocab_size, tag_to_id, embedding_dim=25, hidden_dim=20):
        super(BiLSTM_CRF, self).__init__()
        self.tag_to_id = tag_to_id
        self.tagset_size = len(tag_to_id)
        self.hidden_dim = hidden_dim
        self.word_embeds = nn.Embedding(vocab_size, embedding_dim)
        self.dropout = nn.Dropout(opt.dropout)
        self.lstm = nn.LSTM(embedding_dim, hidden_dim, bidirectional=True)
        self.hidden2tag = nn.Linear(hidden_dim * 2, self.tagset_size)
        # transitions[i, j] is the score of going to i from j
        self.transitions = nn.Parameter(torch.zeros(self.tagset_size, self.tagset_size))
        self.transitions.data[tag_to_id[START_TAG], :] = -10000
        self.transitions.data[:, tag_to_id[STOP_TAG]] = -10000

    def init_hidden(self):
        h = Variable(torch.zeros(2, 1, self.hidden_dim))
        c = Variable(torch.zeros(2, 1, self.hidden_dim))
        if use_gpu:
            h, c = h.cuda(), c.cuda()
        return h, c

    def _get_lstm_features(self, sentence):
        self.hidden = self.init_hidden()
        embeds = self.word_embeds(sentence).unsqueeze(1)
        embeds = self.dropout(embeds)
        lstm_out, self.hidden = self.lstm(embeds, self.hidden)
        lstm_out = lstm_out.view(len(sentence), self.hidden_dim * 2)
        return self.hidden2tag(self.dropout(lstm_out))

    def _score_sentence(self, feats, tags):
        # tags is ground_truth, a list of ints, length is len(sentence)
        r = torch.LongTensor(range(feats.size(0)))
        start = torch.LongTensor([self.tag_to_id[START_TAG]])
        stop = torch.LongTensor([self.tag_to_id[STOP_TAG]])
        if use_gpu:
            r, start, stop = r.cuda(), start.cuda(), stop.cuda()
        pad_start_tags = torch.cat([start, tags])
        pad_stop_tags = torch.cat([tags, stop])
        return torch.sum(self.transitions[pad_stop_tags, pad_start_tags]) + torch.sum(feats[r, tags])

    def _forward_alg(self, feats):
        init_alphas = torch.Tensor(1, self.tagset_size).fill_(-10000.0)
        init_alphas[0][self.tag_to_id[START_TAG]] = 0.0
        forward_var = Variable(init_alphas)
        if use_gpu:
            forward_var = forward_var.cuda()
        for feat in feats:
            emit_score = feat.view(-1, 1)
            tag_var = forward_var + self.transitions + emit_score
            forward_var = log_sum_exp(tag_var, 1).view(1, -1)
        terminal_var = forward_var + self.transitions[self.tag_to_id[STOP_TAG]]
        return log_sum_exp(terminal_var, 1)[0]

    def viterbi_decode(self, feats):
        backpointers = []
        init_vvars = torch.Tensor(1, self.tagset_size).fill_(-10000.0)
        init_vvars[0][self.tag_to_id[START_TAG]] = 0
        forward_var = Variable(init_vvars)
        if use_gpu:
            forward_var = forward_var.cuda()
        for feat in feats:
            next_tag_var = (
                forward_var.view(1, -1).expand(self.tagset_size, self.tagset_size) + self.transitions
            )
            _, bptrs_t = torch.max(next_tag_var, dim=1)
            bptrs_t = bptrs_t.squeeze().data.cpu().numpy()
            next_tag_var = next_tag_var.data.cpu().numpy()
            viterbivars_t = next_tag_var[range(len(bptrs_t)), bptrs_t]
            viterbivars_t = Variable(torch.FloatTensor(viterbivars_t))
            if use_gpu:
                viterbivars_t = viterbivars_t.cuda()
            forward_var = viterbivars_t + feat
            backpointers.append(bptrs_t)

        terminal_var = forward_var + self.transitions[self.tag_to_id[STOP_TAG]]
        terminal_var.data[self.tag_to_id[STOP_TAG]] = -10000.0
        terminal_var.data[self.tag_to_id[START_TAG]] = -10000.0
        _, best = torch.max(terminal_var.unsqueeze(0), 1)
        best_tag_id = int(best)
        path_score = terminal_var[best_tag_id]
        best_path = [best_tag_id]
        for bptrs_t in reversed(backpointers):
            best_tag_id = int(bptrs_t[best_tag_id])
            best_path.append(best_tag_id)
        start = best_path.pop()
        assert start == self.tag_to_id[START_TAG]
        best_path.reverse()
        return path_score, best_path

    def neg_log_likelihood(self, sentence, tags):
        feats = self._get_lstm_features(sentence)
        return self._forward_alg(feats) - self._score_sentence(feats, tags)

    def forward(self, sentence):
        feats = self._get_lstm_features(sentence)
        return self.viterbi_decode(feats)


def evaluating(model, datas):
    correct, total, score_sum = 0, 0, 0.0
    model.train(False)
    for data in datas:
        words = Variable(torch.LongTensor(data["words"]))
        if use_gpu:
            words = words.cuda()
        score, predicted = model(words)
        score_sum += score.data
        for true_id, pred_id in zip(data["tags"], predicted):  # noqa: B905
            correct += true_id == pred_id
            total += 1
    model.train(True)
    print("accuracy %.4f  average path score %.3f" % (correct / float(total), score_sum / len(datas)))
    return correct / float(total)


train_data = [make_sentence() for _ in range(opt.sentences)]
dev_data = [make_sentence() for _ in range(4)]

model = BiLSTM_CRF(len(word_to_id), tag_to_id)
if use_gpu:
    model.cuda()
optimizer = optim.SGD(model.parameters(), lr=opt.lr, momentum=0.9)

loss_total, best_dev, count = 0.0, -1.0, 0
plot_every = 5
t = time.time()
model.train(True)
for epoch in range(1, opt.epochs + 1):
    for i, index in enumerate(random.sample(range(len(train_data)), len(train_data))):
        data = train_data[index]
        count += 1
        model.zero_grad()
        sentence_in = Variable(torch.LongTensor(data["words"]))
        targets = torch.LongTensor(data["tags"])
        if use_gpu:
            sentence_in, targets = sentence_in.cuda(), targets.cuda()
        neg_log_likelihood = model.neg_log_likelihood(sentence_in, targets)
        loss_total += neg_log_likelihood.data / len(data["words"])
        neg_log_likelihood.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), opt.clip)
        optimizer.step()
        if count % plot_every == 0:
            print("epoch %d iter %d: loss %.4f" % (epoch, count, loss_total / plot_every))
            loss_total = 0.0
    acc = evaluating(model, dev_data)
    if acc > best_dev:
        best_dev = acc
    for param_group in optimizer.param_groups:
        param_group["lr"] = opt.lr / (1 + 0.05 * count / len(train_data))
print("best %.4f, %.1f s" % (best_dev, time.time() - t))
