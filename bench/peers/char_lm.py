#!/usr/bin/env python3
"""Trains a character language model in PyTorch: what examples/char_lm.cc is compared with.

    char_lm.py [--text ../shared/datasets/tinyshakespeare/input.txt.gz] [--seeds 1,2,3] [--steps 1000] [--threads 2]

The same in both programs:
  data     bytes, numbered in the order of their values; the first 90 % are trained on, the rest is held out
  model    embedding of 64, LSTM of 256 units, dense to the characters; zero state for each window
  start    embedding uniform in +-0.05; kernels Glorot uniform, the LSTM's recurrent kernel orthogonal (as one matrix
           [256, 4 * 256]); biases 0, of the forget gate 1
  batch    32 windows of 64 characters and the one after each, from places drawn by a 64-bit generator
           (state = state * 6364136223846793005 + 1442695040888963407, from the seed; place = (state >> 33) % places)
  step     mean cross entropy; gradients clipped to a global norm of 1; Adam, rate 2e-3, betas 0.9 and 0.999, epsilon 1e-7
  result   perplexity of the held-out part: exp of the mean loss over its windows of 64, one after the other

Prints one JSON line a seed, then the mean over the seeds.
"""
import argparse
import gzip
import json
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

EMBEDDING, UNITS, BATCH, WINDOW = 64, 256, 32, 64
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--text", default="../shared/datasets/tinyshakespeare/input.txt.gz")
parser.add_argument("--seeds", default="1,2,3")
parser.add_argument("--steps", type=int, default=1000)
parser.add_argument("--threads", type=int, default=2)
args = parser.parse_args()
torch.set_num_threads(args.threads)


def read_text():
    data = gzip.open(args.text, "rb").read()
    numbers = {byte: i for i, byte in enumerate(sorted(set(data)))}
    ids = torch.tensor([numbers[byte] for byte in data])
    cut = len(ids) * 9 // 10
    return ids[:cut], ids[cut:], len(numbers)


class Places:
    """Where the windows of a batch begin."""

    def __init__(self, seed, places):
        self.state, self.places = seed, places

    def draw(self):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) % self.places


class Model(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, EMBEDDING)
        self.lstm = nn.LSTM(EMBEDDING, UNITS, batch_first=True)
        self.dense = nn.Linear(UNITS, vocabulary)
        nn.init.uniform_(self.embedding.weight, -0.05, 0.05)
        nn.init.xavier_uniform_(self.lstm.weight_ih_l0)
        nn.init.orthogonal_(self.lstm.weight_hh_l0)
        nn.init.xavier_uniform_(self.dense.weight)
        for bias in (self.lstm.bias_ih_l0, self.lstm.bias_hh_l0, self.dense.bias):
            nn.init.zeros_(bias)
        with torch.no_grad():
            self.lstm.bias_ih_l0[UNITS:2 * UNITS] = 1  # gates: input, forget, cell, output
        self.lstm.bias_hh_l0.requires_grad_(False)  # one bias a gate

    def forward(self, ids):
        return self.dense(self.lstm(self.embedding(ids))[0])


def loss_of(model, windows):
    return F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())


def perplexity(model, ids):
    windows = ids[:len(ids) - (len(ids) - 1) % WINDOW]
    windows = torch.stack([windows[at:at + WINDOW + 1] for at in range(0, len(windows) - 1, WINDOW)])
    with torch.no_grad():
        losses = [loss_of(model, part) * len(part) for part in windows.split(BATCH)]
    return math.exp(sum(losses) / len(windows))


def train(seed, train_ids, held_out, vocabulary):
    torch.manual_seed(seed)
    model = Model(vocabulary)
    parameters = [p for p in model.parameters() if p.requires_grad]
    adam = torch.optim.Adam(parameters, 2e-3, eps=1e-7)
    places = Places(seed, len(train_ids) - WINDOW)
    start = time.perf_counter()
    for _ in range(args.steps):
        begins = [places.draw() for _ in range(BATCH)]
        windows = torch.stack([train_ids[at:at + WINDOW + 1] for at in begins])
        loss = loss_of(model, windows)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
    return perplexity(model, held_out), time.perf_counter() - start


train_ids, held_out, vocabulary = read_text()
results = []
for seed in map(int, args.seeds.split(",")):
    result, seconds = train(seed, train_ids, held_out, vocabulary)
    results.append(result)
    print(json.dumps({"peer": "torch", "name": "char_lm", "seed": seed, "steps": args.steps,
                      "perplexity": round(result, 4), "seconds": round(seconds, 1)}), flush=True)
print(json.dumps({"peer": "torch", "name": "char_lm", "seeds": len(results), "steps": args.steps,
                  "perplexity": round(sum(results) / len(results), 4)}))
