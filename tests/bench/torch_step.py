"""The training step that step.c runs, by PyTorch: for against_pytorch, which sets the threads and libraries.

    torch_step.py --config V,T,B,C,H,L --threads N --dropout P --adam foreach|flat --seconds S

PyTorch as fast as we could make it: attention as one batched product of all heads, scale and mask folded
in (baddbmm); AdamW over lists of tensors (foreach) or over one flat tensor, whichever is faster there.
Prints a line like step's: the median of the fastest third of the steps.
"""
import argparse
import resource
import time

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, context, dropout):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width, bias=False) for _ in range(3))
        self.out_proj = nn.Linear(width, width)
        self.dropout, self.heads = nn.Dropout(dropout), heads
        self.register_buffer("mask", torch.full((context, context), float("-inf")).triu(1))

    def forward(self, x):
        batch, time, width = x.shape
        head = width // self.heads

        def split(y):                                               # (batch heads, time, head)
            return y.view(batch, time, self.heads, head).transpose(1, 2).reshape(-1, time, head)

        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        score = torch.baddbmm(self.mask[:time, :time], q, k.transpose(1, 2), alpha=head ** -0.5)
        y = torch.bmm(self.dropout(F.softmax(score, dim=-1)), v)
        return self.out_proj(y.view(batch, self.heads, time, head).transpose(1, 2).reshape(x.shape))


class Block(nn.Module):
    def __init__(self, width, heads, context, dropout):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.att = Attention(width, heads, context, dropout)
        self.ff = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.dropout(self.att(self.norm1(x)))
        return x + self.dropout(self.ff(self.norm2(x)))


class GPT(nn.Module):
    def __init__(self, vocab, context, width, heads, layers, dropout):
        super().__init__()
        self.tok_emb, self.pos_emb = nn.Embedding(vocab, width), nn.Embedding(context, width)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.Sequential(*(Block(width, heads, context, dropout) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocab, bias=False)

    def forward(self, ids):
        x = self.dropout(self.tok_emb(ids) + self.pos_emb.weight[:ids.shape[1]])
        return self.head(self.norm(self.blocks(x)))


def flatten(params):
    """One parameter that all of them are pieces of, and so for the gradients."""
    data = torch.cat([p.data.flatten() for p in params])
    grad, at = torch.zeros_like(data), 0
    for p in params:
        n = p.numel()
        p.data, p.grad = data[at:at + n].view_as(p), grad[at:at + n].view_as(p)
        at += n
    whole = nn.Parameter(data)
    whole.grad = grad
    return whole


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", required=True)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--dropout", type=float, default=0.0)
    ap.add_argument("--adam", choices=("foreach", "flat"), default="foreach")
    ap.add_argument("--seconds", type=float, default=2.0)
    a = ap.parse_args()
    vocab, context, batch, width, heads, layers = map(int, a.config.split(","))

    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    model = GPT(vocab, context, width, heads, layers, a.dropout)
    params = list(model.parameters())
    count = sum(p.numel() for p in params)
    flat = a.adam == "flat"
    if flat:
        opt = torch.optim.AdamW([flatten(params)], lr=3e-4)
    else:
        opt = torch.optim.AdamW(params, lr=3e-4, foreach=True)
    data = [torch.randint(vocab, (2, batch, context)) for _ in range(4)]

    def step(i):
        ids, target = data[i % 4]
        opt.zero_grad(set_to_none=not flat)
        loss = F.cross_entropy(model(ids).view(-1, vocab), target.view(-1))
        loss.backward()
        opt.step()
        return loss.item()

    begun, warm = time.perf_counter(), 0
    while warm < 3 and (warm == 0 or time.perf_counter() - begun < 2):
        step(warm)
        warm += 1
    took, begun = [], time.perf_counter()
    while len(took) < 3 or (len(took) < 1000 and time.perf_counter() - begun < a.seconds):
        t = time.perf_counter()
        loss = step(len(took))
        took.append(time.perf_counter() - t)
    third = (len(took) + 2) // 3
    ms = 1e3 * sorted(took)[(third - 1) // 2]
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"pytorch config={a.config} threads={a.threads} dropout={a.dropout:g} params={count} "
          f"steps={len(took)} ms={ms:.4f} mib={mib:.0f} loss={loss:.4f} version={torch.__version__}")


if __name__ == "__main__":
    main()
