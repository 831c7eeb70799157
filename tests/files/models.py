"""Models of the three families in PyTorch, each written for its own names, and a writer of safetensors files:
for interop.py and tune.py.
"""
import json
import struct

import torch
from torch import nn
from torch.nn import functional as F


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
    """Weights as large as a trained model's: then the logits are large too, and the form of GELU matters."""
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
