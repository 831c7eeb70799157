"""The training step that step.c runs, by PyTorch: for against_pytorch, which sets the threads and libraries.

    torch_step.py --config V,T,B,C,H,L --threads N --dropout P --seconds S --precision float|bf16
    torch_step.py --product --threads N

PyTorch as fast as we could make it: attention as one batched product of all heads, scale and mask folded
in (baddbmm); AdamW over lists of tensors (foreach).
bf16: the forward pass and the loss under torch.autocast, whose products have inputs of bfloat16.
Prints a line like step's: the median of the fastest third of the steps. With --product: GFLOP/s of torch.mm
on two float matrices of 2048 x 2048.
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


def measure(f, seconds):
    """Calls f(0), f(1), ...: the milliseconds of each call, and what the last one returned."""
    took, begun = [], time.perf_counter()
    while len(took) < 3 or (len(took) < 1000 and time.perf_counter() - begun < seconds):
        t = time.perf_counter()
        result = f(len(took))
        took.append(1e3 * (time.perf_counter() - t))
    return took, result


def fastest(took):
    """The median of the fastest third."""
    third = (len(took) + 2) // 3
    return sorted(took)[(third - 1) // 2]


def product_gflops(seconds):
    n = 2048
    a, b = torch.rand(n, n) - 0.5, torch.rand(n, n) - 0.5
    c = torch.mm(a, b)
    took, _ = measure(lambda i: torch.mm(a, b, out=c), seconds)
    return 2e-6 * n ** 3 / fastest(took)


def training_step(a):
    """A function that makes the i-th step and returns its loss, and the number of parameters."""
    vocab, context, batch, width, heads, layers = map(int, a.config.split(","))
    model = GPT(vocab, context, width, heads, layers, a.dropout)
    count = sum(p.numel() for p in model.parameters())
    opt = torch.optim.AdamW(model.parameters(), lr=3e-4, foreach=True)
    data = [torch.randint(vocab, (2, batch, context)) for _ in range(4)]

    def step(i):
        ids, target = data[i % 4]
        opt.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.precision == "bf16"):
            loss = F.cross_entropy(model(ids).view(-1, vocab), target.view(-1))
        loss.backward()
        opt.step()
        return loss.item()

    return step, count


def time_steps(a):
    step, count = training_step(a)
    begun, warm = time.perf_counter(), 0
    while warm < 3 and (warm == 0 or time.perf_counter() - begun < 2):
        step(warm)
        warm += 1
    took, loss = measure(step, a.seconds)
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (f"config={a.config} threads={a.threads} dropout={a.dropout:g} precision={a.precision} "
            f"params={count} steps={len(took)} ms={fastest(took):.4f} mib={mib:.0f} loss={loss:.4f}")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--product", action="store_true")
    ap.add_argument("--config")
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--dropout", type=float, default=0.0)
    ap.add_argument("--precision", choices=("float", "bf16"), default="float")
    ap.add_argument("--seconds", type=float, default=2.0)
    a = ap.parse_args()
    if not a.product and not a.config:
        ap.error("expected --config or --product")

    torch.set_num_threads(a.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    what = f"product={product_gflops(a.seconds):.1f}" if a.product else time_steps(a)
    print(f"pytorch {what} version={torch.__version__}")


if __name__ == "__main__":
    main()
