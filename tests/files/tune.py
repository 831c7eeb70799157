"""PyTorch and gradus tune the same GPT-2 alike. tests/files/tune_torch.sh runs this:

    tune.py TRAIN GENERATE FOLDER

It writes a small GPT-2 as Hugging Face has it, with random weights and the vocabulary of tests/golden, which
train then tunes, and PyTorch in float64 too, by the defaults of train's manual: windows by torch.randint from
the seed, AdamW with decay of matrices only, a cosine, clipping. The losses are compared step by step; then the
folder that train wrote goes into PyTorch, and the logits are compared.
"""
import csv
import json
import math
import os
import shutil
import subprocess
import sys

import numpy
import torch
from torch.nn import functional as F

from models import GPT2, stir, write

sys.path.insert(0, "tests/golden")
import make_tokenizer

LIMIT, STEPS, BATCH, CONTEXT, POSITIONS, WIDTH, HEADS, LAYERS = 1e-5, 20, 4, 16, 24, 48, 4, 2
RATE, DECAY, CLIP, WARMUP, SEED = 1e-3, 0.1, 1, 4, 7
TOKENIZER, TEXT = "tests/golden/tokenizer", "tests/golden/tokenizer/text.txt"
train, generate, folder = sys.argv[1:]
theirs, ours = os.path.join(folder, "gpt2"), os.path.join(folder, "tuned")
torch.set_num_threads(1)
torch.manual_seed(1)


def tokens_of(text):
    with open(f"{TOKENIZER}/vocab.json", encoding="utf-8") as f:
        number = json.load(f)
    with open(f"{TOKENIZER}/merges.txt", encoding="utf-8") as f:
        merges = [line.split() for line in f.read().split("\n")[1:] if line]
    rank, ids = {tuple(pair): i for i, pair in enumerate(merges)}, []
    for piece in make_tokenizer.split(text):
        symbols = [make_tokenizer.PRINTED[byte] for byte in piece]
        while True:
            pairs = [p for p in zip(symbols, symbols[1:]) if p in rank]
            if not pairs:
                break
            first, i = min(pairs, key=rank.get), 0
            while i < len(symbols) - 1:
                if (symbols[i], symbols[i + 1]) == first:
                    symbols[i:i + 2] = ["".join(first)]
                i += 1
        ids += [number[x] for x in symbols]
    return ids, len(number)


def write_folder(model, vocab):
    os.makedirs(theirs)
    state = model.state_dict()
    del state["lm_head.weight"]                         # tied: Hugging Face leaves it out
    write(f"{theirs}/model.safetensors", state)
    with open(f"{theirs}/config.json", "w") as f:
        json.dump({"model_type": "gpt2", "activation_function": "gelu_new", "n_embd": WIDTH, "n_head": HEADS,
                   "n_layer": LAYERS, "n_positions": POSITIONS, "vocab_size": vocab,
                   "layer_norm_epsilon": 1e-5}, f)
    for name in "vocab.json", "merges.txt":
        shutil.copy(f"{TOKENIZER}/{name}", theirs)


def rate_at(step):
    if step < WARMUP:
        return RATE * (step + 1) / WARMUP
    done = (step - WARMUP) / (STEPS - WARMUP)
    return RATE / 10 + (RATE - RATE / 10) * (1 + math.cos(math.pi * done)) / 2


def tune_there(model, ids):
    parameters, losses = list(model.parameters()), []
    adamw = torch.optim.AdamW([{"params": [p for p in parameters if p.ndim == 2], "weight_decay": DECAY},
                               {"params": [p for p in parameters if p.ndim == 1], "weight_decay": 0}],
                              betas=(0.9, 0.99), eps=1e-8)
    draw = torch.Generator().manual_seed(SEED)
    for step in range(STEPS):
        starts = torch.randint(len(ids) - CONTEXT, (BATCH,), generator=draw).tolist()
        windows = torch.tensor([ids[i:i + CONTEXT + 1] for i in starts])
        loss = F.cross_entropy(model(windows[:, :-1]).flatten(0, 1), windows[:, 1:].flatten())
        adamw.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, CLIP)
        for group in adamw.param_groups:
            group["lr"] = rate_at(step)
        adamw.step()
        losses.append(loss.item())
    return losses


def tune_here():
    subprocess.run([train, "--from", theirs, "--data", TEXT, "--context", str(CONTEXT), "--batch", str(BATCH),
                    "--steps", str(STEPS), "--lr", str(RATE), "--decay", str(DECAY), "--clip", str(CLIP),
                    "--warmup", str(WARMUP), "--seed", str(SEED), "--eval-batches", "1", "--sample", "0",
                    "--threads", "1", "--quiet", "--layout", "huggingface", "--out", ours], check=True)
    with open(f"{ours}/loss.tsv") as f:
        return [float(row["train_loss"]) for row in csv.DictReader(f, delimiter="\t")]


def read(path):
    """A safetensors file of float32."""
    with open(path, "rb") as f:
        data = f.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(numpy.frombuffer(data[begin + x["data_offsets"][0]:
                                                         begin + x["data_offsets"][1]], "<f4")
                                   .reshape(x["shape"]).copy()) for name, x in header.items()}


def logits_here(path, ids):
    out = os.path.join(folder, "logits.npy")
    subprocess.run([generate, "--model", path, "--ids", " ".join(map(str, ids)), "--tokens", "1", "--logits",
                    out, "--threads", "1"], check=True, capture_output=True)
    return torch.from_numpy(numpy.load(out)).double()


def logits_there(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids]))[0]


failed = 0


def close(what, difference, among):
    global failed
    good = difference < LIMIT
    failed += not good
    print(f"{'ok' if good else 'FAILED'}: {what}: largest difference {difference:.1e}, {among}")


with open(TEXT, "rb") as f:
    text = f.read()
ids, vocab = tokens_of(text[:len(text) - (len(text) + 9) // 10])        # the last tenth is held out
model = stir(GPT2(vocab, POSITIONS, WIDTH, HEADS, LAYERS, conv=True))
write_folder(model, vocab)
there, here = tune_there(model.double(), ids), tune_here()
assert len(here) == STEPS, here
close(f"the losses of {STEPS} steps", max(abs(a - b) for a, b in zip(here, there)),
      f"from {there[0]:.4f} to {there[-1]:.4f}")

tuned, state = GPT2(vocab, POSITIONS, WIDTH, HEADS, LAYERS, conv=True), read(f"{ours}/model.safetensors")
odd = tuned.load_state_dict(state, strict=False)
assert not odd.unexpected_keys, odd
assert all(x == "lm_head.weight" or x.endswith(".attn.bias") for x in odd.missing_keys), odd
with open(f"{ours}/config.json") as f:
    config = json.load(f)
assert (config["n_head"], config["n_positions"]) == (HEADS, POSITIONS), config
assert config["activation_function"] == "gelu_new", config
tuned.double()
expected = logits_there(tuned, ids[:POSITIONS])
close("the tuned folder's logits in PyTorch",
      (logits_here(ours, ids[:POSITIONS]) - expected).abs().max().item(),
      f"largest logit {expected.abs().max():.1f}")
moved = (expected - logits_here(theirs, ids[:POSITIONS])).abs().max().item()
assert moved > 0.1, moved                               # otherwise nothing was tuned
sys.exit(1 if failed else 0)
