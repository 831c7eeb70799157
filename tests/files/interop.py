"""PyTorch and gradus compute the same logits from the same files. tests/files/interop.sh runs this:

    interop.py GENERATE FOLDER RUN ...

GENERATE is the program; FOLDER takes files; each RUN is a folder that train left. The models below are those
of the three families, each written for its own names; their logits in float64 are what is compared with.
The examples to_pytorch.py and from_pytorch.py are run as they stand.
"""
import json
import os
import runpy
import struct
import subprocess
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F

LIMIT = 1e-5
generate, folder, runs = sys.argv[1], sys.argv[2], sys.argv[3:]
torch.set_num_threads(1)
torch.manual_seed(1)


# ---- the models ----

def attend(q, k, v, heads):
    batch, time, width = q.shape

    def split(x):
        return x.view(batch, time, heads, width // heads).transpose(1, 2)

    score = split(q) @ split(k).transpose(2, 3) / (width // heads) ** 0.5
    future = torch.ones(time, time, dtype=torch.bool).triu(1)
    y = score.masked_fill(future, float("-inf")).softmax(-1) @ split(v)
    return y.transpose(1, 2).reshape(batch, time, width)


class Norm(nn.Module):
    """Raschka's names for what LayerNorm calls weight and bias."""
    def __init__(self, width, bias):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.shift = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], self.scale, self.shift, 1e-5)


class RaschkaAttention(nn.Module):
    def __init__(self, context, width, heads, bias, qkv_bias):
        super().__init__()
        self.W_query, self.W_key, self.W_value = (nn.Linear(width, width, bias=qkv_bias) for _ in range(3))
        self.out_proj, self.heads = nn.Linear(width, width, bias=bias), heads
        self.register_buffer("mask", torch.ones(context, context).triu(1))

    def forward(self, x):
        return self.out_proj(attend(self.W_query(x), self.W_key(x), self.W_value(x), self.heads))


class RaschkaBlock(nn.Module):
    def __init__(self, context, width, heads, bias, qkv_bias, gelu):
        super().__init__()
        self.att, self.ff = RaschkaAttention(context, width, heads, bias, qkv_bias), nn.Module()
        self.ff.layers = nn.Sequential(nn.Linear(width, 4 * width, bias=bias), gelu,
                                       nn.Linear(4 * width, width, bias=bias))
        self.norm1, self.norm2 = Norm(width, bias), Norm(width, bias)

    def forward(self, x):
        x = x + self.att(self.norm1(x))
        return x + self.ff.layers(self.norm2(x))


class Raschka(nn.Module):
    def __init__(self, vocab, context, width, heads, layers, bias=True, qkv_bias=False, gelu="tanh"):
        super().__init__()
        gelu = nn.GELU(approximate="tanh" if gelu == "tanh" else "none")
        self.tok_emb, self.pos_emb = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.trf_blocks = nn.Sequential(*(RaschkaBlock(context, width, heads, bias, qkv_bias, gelu)
                                          for _ in range(layers)))
        self.final_norm, self.out_head = Norm(width, bias), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.tok_emb(ids) + self.pos_emb.weight[:ids.shape[1]]
        return self.out_head(self.final_norm(self.trf_blocks(x)))


class Conv1D(nn.Module):
    """Hugging Face's Linear: its weight is (in, out)."""
    def __init__(self, inputs, outputs, bias):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias


class GPT2Block(nn.Module):
    def __init__(self, context, width, heads, bias, linear, gelu):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn, self.mlp, self.heads, self.gelu = nn.Module(), nn.Module(), heads, gelu
        self.attn.c_attn, self.attn.c_proj = linear(width, 3 * width, bias), linear(width, width, bias)
        self.mlp.c_fc, self.mlp.c_proj = linear(width, 4 * width, bias), linear(4 * width, width, bias)
        self.attn.register_buffer("bias", torch.ones(1, 1, context, context).tril())
        if not bias:
            self.ln_1.bias = self.ln_2.bias = None

    def forward(self, x):
        q, k, v = self.attn.c_attn(self.ln_1(x)).chunk(3, dim=-1)
        x = x + self.attn.c_proj(attend(q, k, v, self.heads))
        return x + self.mlp.c_proj(self.gelu(self.mlp.c_fc(self.ln_2(x))))


class GPT2(nn.Module):
    """nanoGPT's, or with conv Hugging Face's."""
    def __init__(self, vocab, context, width, heads, layers, bias=True, conv=False, tied=True):
        super().__init__()
        gelu = nn.GELU(approximate="tanh" if conv else "none")
        linear = Conv1D if conv else lambda i, o, bias: nn.Linear(i, o, bias=bias)
        self.transformer, self.lm_head = nn.Module(), nn.Linear(width, vocab, bias=False)
        t = self.transformer
        t.wte, t.wpe = nn.Embedding(vocab, width), nn.Embedding(context, width)
        t.h = nn.ModuleList(GPT2Block(context, width, heads, bias, linear, gelu) for _ in range(layers))
        t.ln_f = nn.LayerNorm(width)
        if not bias:
            t.ln_f.bias = None
        if tied:
            self.lm_head.weight = t.wte.weight

    def forward(self, ids):
        t = self.transformer
        x = t.wte(ids) + t.wpe.weight[:ids.shape[1]]
        for block in t.h:
            x = block(x)
        return self.lm_head(t.ln_f(x))


def model_size(model):
    embedding = model.tok_emb if hasattr(model, "tok_emb") else model.transformer.wte
    positions = model.pos_emb if hasattr(model, "pos_emb") else model.transformer.wpe
    return embedding.num_embeddings, positions.num_embeddings, positions.embedding_dim


def stir(model):
    """Weights as large as a trained model's, so that the logits are too and the form of GELU matters."""
    spread = 1.4 / model_size(model)[2] ** 0.5
    with torch.no_grad():
        for p in model.parameters():
            p.copy_(torch.randn_like(p) * (spread if p.ndim == 2 else 0.1) + (p.ndim == 1) * 0.5)
    return model


# ---- files ----

KINDS = {"F32": torch.float32, "F64": torch.float64, "F16": torch.float16, "BF16": torch.bfloat16}


def write(path, state, kind="F32", meta=None):
    header, data = {"__metadata__": meta} if meta else {}, bytearray()
    for name, x in state.items():
        begin, x = len(data), x.detach().contiguous()
        if x.dtype == torch.bool:
            as_kind, values = "BOOL", x
        else:
            as_kind, values = kind, x.to(KINDS[kind])
        data += (values.view(torch.int16) if as_kind == "BF16" else values).numpy().tobytes()
        header[name] = {"dtype": as_kind, "shape": list(x.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


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
            del state["lm_head.weight"]         # as Hugging Face does if it is tied
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
    model.transformer.wpe.weight.data *= 5      # so that each position gives a different token
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
