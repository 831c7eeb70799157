"""PyTorch and gradus compute the same logits from the same files. tests/files/interop.sh runs this:

    interop.py GENERATE FOLDER RUN ...

GENERATE is the program; FOLDER takes files; each RUN is a folder that train left. The logits of models.py's
models in float64 are what is compared with.
The examples to_pytorch.py and from_pytorch.py are run as they stand.
"""
import json
import os
import runpy
import subprocess
import sys

import numpy
import torch
from torch.nn import functional as F

from models import GPT2, KINDS, Raschka, model_size, stir, write

LIMIT = 1e-5
generate, folder, runs = sys.argv[1], sys.argv[2], sys.argv[3:]
torch.set_num_threads(1)
torch.manual_seed(1)


def round_as(model, kind):
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(p.to(KINDS[kind]))
    return model


def example(name, *words):
    sys.argv = [name, *words]
    runpy.run_path("examples/python/" + name)


# ---- the comparison ----

largest, failed = 0.0, 0


def same(what, model, path, *flags, ids=None):
    global largest, failed
    vocab, context, _ = model_size(model)
    ids = ids or torch.randint(vocab, (context,)).tolist()
    with torch.no_grad():
        expected = model.double()(torch.tensor([ids]))[0].numpy()
    out = os.path.join(folder, "logits.npy")
    done = subprocess.run([generate, "--model", path, "--ids", " ".join(map(str, ids)), "--tokens", "1",
                           "--logits", out, "--threads", "1", *flags], capture_output=True, text=True)
    difference = float("inf")
    if done.returncode == 0:
        difference = numpy.abs(numpy.load(out) - expected).max()
        largest = max(largest, difference)
    good = difference < LIMIT
    failed += not good
    print(f"{'ok' if good else 'FAILED'}: {what}: largest difference {difference:.1e}, largest logit "
          f"{numpy.abs(expected).max():.1f}{done.stderr and ': ' + done.stderr.strip()}")


def trained_here(run):
    path, there = os.path.join(run, "model.safetensors"), os.path.join(folder, "model.pt")
    with open(os.path.join(run, "config.tsv")) as f:
        c = dict(line.rstrip("\n").split("\t") for line in f)
    example("to_pytorch.py", path, there)
    with open(os.path.join(run, "vocab.tsv")) as f:
        c["vocab_size"] = len(f.readlines())
    model = Raschka(*(int(c[x]) for x in ("vocab_size", "context", "width", "heads", "layers")),
                    c["bias"] == "yes", c["qkv-bias"] == "yes", c["gelu"])
    odd = model.load_state_dict(torch.load(there), strict=False)
    assert not odd.unexpected_keys and all(x.endswith(".mask") for x in odd.missing_keys), odd
    with open(os.path.join(run, "vocab.tsv")) as f:
        byte = [int(line.split("\t")[0]) for line in f]
    same(f"trained here, {os.path.basename(run)}", model, path, ids=[byte.index(x) for x in b"static int count"])


def train_there(model):
    vocab, context, _ = model_size(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for _ in range(20):
        ids = torch.randint(vocab // 2, (4, context + 1))
        loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return model


def trained_there():
    there, path = os.path.join(folder, "model.pt"), os.path.join(folder, "there.safetensors")
    model = train_there(stir(Raschka(61, 12, 48, 4, 2)))
    torch.save(model.state_dict(), there)
    example("from_pytorch.py", there, path, "n_heads=4")
    same("trained there, Raschka's GPTModel", model, path)
    model = train_there(stir(Raschka(61, 12, 48, 4, 2, gelu="erf", qkv_bias=True)))
    torch.save(model.state_dict(), there)
    example("from_pytorch.py", there, path, "n_heads=4", "gelu=erf")
    same("trained there, with erf and all biases", model, path)
    model = train_there(stir(GPT2(61, 12, 48, 4, 2, bias=False)))
    state = {"_orig_mod." + name: x for name, x in model.state_dict().items()}
    torch.save({"model": state, "iter_num": 20}, there)
    example("from_pytorch.py", there, path, "n_heads=4")
    same("trained there, nanoGPT's ckpt.pt", model, path)
    state = {"model._orig_mod.module." + name: x for name, x in model.state_dict().items()}
    moments = torch.optim.AdamW(model.parameters()).state_dict()
    torch.save({"optimizer_state_dict": moments, "last": {"epoch": 3, "model_state_dict": state}}, there)
    example("from_pytorch.py", there, path, "n_heads=4")
    same("trained there, in dictionaries and wrappers", model, path)


def families():
    path = os.path.join(folder, "family.safetensors")
    for kind in KINDS:
        for bias in True, False:
            model = round_as(stir(GPT2(61, 12, 128, 2, 2, bias=bias, tied=kind != "F16")), kind)
            write(path, model.state_dict(), kind)
            same(f"nanoGPT, {kind}, {'with' if bias else 'no'} biases", model, path)
        model = round_as(stir(Raschka(61, 12, 48, 4, 2, qkv_bias=kind == "F64")), kind)
        write(path, model.state_dict(), kind, {"n_heads": "4"})
        same(f"Raschka, {kind}", model, path)
        model = round_as(stir(GPT2(61, 12, 48, 4, 2, conv=True, tied=kind != "BF16")), kind)
        state = model.state_dict()
        if kind != "BF16":
            del state["lm_head.weight"]         # like Hugging Face if it is tied
        for i in range(2):
            state[f"transformer.h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
            state[f"transformer.h.{i}.attn.bias"] = state[f"transformer.h.{i}.attn.bias"].bool()
        write(path, state, kind)
        same(f"Hugging Face, {kind}, with transformer.", model, path, "--heads", "4")
        state = {name.replace("transformer.", ""): x for name, x in state.items()}
        write(path, state, kind)
        with open(os.path.join(folder, "config.json"), "w") as f:
            json.dump({"n_head": 4, "n_embd": 48, "layer_norm_epsilon": 1e-5, "n_inner": None,
                       "architectures": ["GPT2LMHeadModel"], "task": {"n_head": 1}}, f, indent=2)
        same(f"Hugging Face, {kind}, config.json", model, path)
        os.remove(os.path.join(folder, "config.json"))


def same_text():
    """Greedy generation, token by token."""
    path = os.path.join(folder, "text.safetensors")
    model = stir(GPT2(61, 12, 48, 4, 2, conv=True, tied=False))
    model.transformer.wpe.weight.data *= 5      # makes each position give a different token
    write(path, model.state_dict())
    ids = [3, 1, 4]
    done = subprocess.run([generate, "--model", path, "--ids", "3 1 4", "--heads", "4", "--tokens", "9",
                           "--temperature", "0"], capture_output=True, text=True, check=True)
    with torch.no_grad():
        while len(ids) < 12:
            ids.append(model(torch.tensor([ids]))[0, -1].argmax().item())
    good = list(map(int, done.stdout.split())) == ids
    print(f"{'ok' if good else 'FAILED'}: the same tokens: {done.stdout.strip()}")
    return good


for run in runs:
    trained_here(run)
trained_there()
families()
failed += not same_text()
print(f"interop: largest difference of a logit: got {largest:.1e}, expected at most {LIMIT:g}")
sys.exit(1 if failed else 0)
