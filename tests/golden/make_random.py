#!/usr/bin/env python3
"""Hashes of what PyTorch draws from a seed.
usage: make_random.py > random.txt              (tests/golden/random.txt was made with PyTorch 1.13, CPU, AVX2)

A line is: what is drawn, the seed, how many values, two arguments, the first value and the last, and the hash
(FNV-1a, 64 bits) of all bits, value by value, least significant byte first. What is drawn:

    randn, normal, uniform      float32; normal_(mean, std), uniform_(a, b)
    randn_f64                   float64
    kaiming, xavier             float32; kaiming_normal_ (for relu), xavier_uniform_ of a matrix (out, in)
    gpt                         all parameters of Raschka's GPTModel: 65 characters, context 16, width 32, 4 heads,
                                2 blocks, no bias of queries, keys and values"""
import random, struct, torch
from torch import nn

print('# made by make_random.py: PyTorch %s, CPU' % torch.__version__)


def line(kind, seed, x, a=0, b=0):
    x = x.detach().reshape(-1)
    form = '<d' if x.dtype == torch.float64 else '<f'
    h = 0xcbf29ce484222325
    for byte in b''.join(struct.pack(form, v) for v in x.tolist()):
        h = (h ^ byte) * 0x100000001b3 % 2**64
    print(kind, seed, x.numel(), '%.17g %.17g %.17g %.17g %016x' % (a, b, x[0], x[-1], h))


class Block(nn.Module):                         # makes its modules in Raschka's order
    def __init__(self, dim):
        super().__init__()
        self.att = nn.ModuleList([nn.Linear(dim, dim, bias=False) for _ in range(3)] + [nn.Linear(dim, dim)])
        self.ff = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.norm1 = nn.LayerNorm(dim)
        self.norm2 = nn.LayerNorm(dim)


def gpt(vocab, context, dim, layers):
    modules = [nn.Embedding(vocab, dim), nn.Embedding(context, dim)] + [Block(dim) for _ in range(layers)]
    modules += [nn.LayerNorm(dim), nn.Linear(dim, vocab, bias=False)]
    return torch.cat([p.reshape(-1) for m in modules for p in m.parameters()])


choose = random.Random(1)
sizes = list(range(1, 50)) + [64, 624, 640, 65 * 32] + [choose.randint(50, 3000) for _ in range(27)]
for n in sizes:
    seed = choose.randrange(2**32)
    torch.manual_seed(seed)
    line('randn', seed, torch.randn(n))
for n in sizes[::2]:
    seed, mean, std = choose.randrange(2**32), choose.choice([0, 0, 1, -0.3]), choose.choice([0.02, 1 / 3, 2])
    torch.manual_seed(seed)
    line('normal', seed, torch.empty(n).normal_(mean, std), mean, std)
    torch.manual_seed(seed)
    line('randn_f64', seed, torch.randn(n, dtype=torch.float64))
for n in sizes[::4]:
    seed, a, b = choose.randrange(2**32), choose.uniform(-2, 0), choose.uniform(0, 2)
    torch.manual_seed(seed)
    line('uniform', seed, torch.empty(n).uniform_(a, b), a, b)
for _ in range(20):
    seed, rows, cols = choose.randrange(2**32), choose.randint(1, 40), choose.randint(1, 40)
    torch.manual_seed(seed)
    line('kaiming', seed, nn.init.kaiming_normal_(torch.empty(rows, cols), nonlinearity='relu'), rows, cols)
    torch.manual_seed(seed)
    line('xavier', seed, nn.init.xavier_uniform_(torch.empty(rows, cols)), rows, cols)
for seed in 0, 123:
    torch.manual_seed(seed)
    line('gpt', seed, gpt(65, 16, 32, 2))
