#!/usr/bin/env python3
"""Reference cases of ops, from PyTorch on the CPU: y, and every gradient of sum(dy y).
usage: make_ops.py OUTDIR                                (tests/golden/torch: these were made with PyTorch 1.13)

Writes CASE_f64.txt and CASE_f32.txt for each case below."""
import os, sys, torch
import torch.nn.functional as F

torch.set_num_threads(1)
G = torch.Generator().manual_seed(2024)


def draw(*shape):
    return torch.randn(shape, generator=G, dtype=torch.float64)


def tensor(f, role, name, x, tol):
    digits = '%.17g' if x.dtype == torch.float64 else '%.9g'
    print('tensor', role, name, '%g' % tol, x.dim(), *x.shape, file=f)
    rows = x.detach().reshape(-1, x.shape[-1]) if x.dim() else x.detach().reshape(1, 1)
    for row in rows.tolist():
        print(*(digits % v for v in row), file=f)


def case(name, what, y_of, indices={}, **inputs):   # indices: int64, which have no gradient
    dy = None
    for dtype, tag, tol in ((torch.float64, 'f64', 1e-10), (torch.float32, 'f32', 2e-5)):
        x = {n: v.detach().clone().to(dtype).requires_grad_() for n, v in inputs.items()}
        y = y_of(**x, **indices)
        dy = draw(*y.shape) if dy is None else dy
        (y * dy.to(dtype)).sum().backward()
        with open(os.path.join(sys.argv[1], '%s_%s.txt' % (name, tag)), 'w') as f:
            print('# %s\n# PyTorch %s, CPU, %s' % (what, torch.__version__, dtype), file=f)
            print('source torch\nsystem', name, file=f)
            for n, v in x.items():
                tensor(f, 'input', n, v, 0)
            for n, v in indices.items():
                tensor(f, 'input', n, v.to(dtype), 0)
            tensor(f, 'expect', 'y', y, tol)
            tensor(f, 'input', 'dy', dy.to(dtype), 0)
            for n, v in x.items():
                tensor(f, 'expect', 'd_' + n, v.grad, 5 * tol)
            print('end', file=f)


signs = torch.tensor([[-1.5, 0, 2], [0.25, -0.0, -3]], dtype=torch.float64)
steps = torch.tensor([[-2, -1, -0.5], [0.5, 1, 3]], dtype=torch.float64)        # the bounds belong to the interval
p = torch.tensor([[0.01, 0.99, 0.5, 0.001], [0.25, 0.999, 0.75, 0.125]], dtype=torch.float64)
targets = torch.tensor([[0, 1, 0.25, 1], [1, 0, 1, 0]], dtype=torch.float64)
logits = torch.tensor([[0, -30, 30, 2], [-2, 20, -20, 60]], dtype=torch.float64)

case('abs', '|x|', torch.abs, input=signs)
case('clamp', 'clamp(x, -1, 1)', lambda x: torch.clamp(x, -1, 1), x=steps)
case('add_scalar', 'x + 1.5', lambda x: x + 1.5, x=draw(2, 3))
case('where', 'where(x > w, x, w), both broadcast', lambda x, w: torch.where(x > w, x, w), x=draw(2, 1, 4), w=draw(3, 1))
case('min_dim', 'the smallest along dimension 1', lambda x: x.min(1).values, x=draw(2, 3, 4))
case('var', 'var(x), of a sample', lambda x: x.var(), x=draw(3, 5))
case('var_dim', 'var(x, 1, unbiased=False, keepdim=True)', lambda x: x.var(1, unbiased=False, keepdim=True), x=draw(2, 3, 4))
case('stack', 'stack([a, b, a], 1)', lambda a, b: torch.stack([a, b, a], 1), a=draw(2, 3), b=draw(2, 3))
case('binary_cross_entropy', 'of probabilities and targets', F.binary_cross_entropy, input=p, target=targets)
case('binary_cross_entropy_with_logits', 'of logits and targets', F.binary_cross_entropy_with_logits,
     input=logits, target=targets)


def grouped(q, k, v):                           # 4 heads of queries, 2 of keys and values, causal
    heads = lambda x, n: x.reshape(*x.shape[:2], n, -1).transpose(1, 2)
    q, k, v = heads(q, 4), *(heads(x, 2).repeat_interleave(2, 1) for x in (k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    hidden = torch.ones(scores.shape[-2:]).triu(1 + scores.shape[-1] - scores.shape[-2]).bool()
    return (scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).transpose(1, 2).flatten(2)


case('grouped_query_attention', '4 heads, 2 key-value heads, causal', grouped, q=draw(2, 3, 8), k=draw(2, 5, 4),
     v=draw(2, 5, 6))


def masked(q, k, v, mask):                      # 2 heads, as F.scaled_dot_product_attention(attn_mask=mask), of PyTorch 2
    q, k, v = (x.reshape(*x.shape[:2], 2, -1).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT / q.shape[-1] ** 0.5 + mask
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)


case('attention_mask', '2 heads, and a mask of the heads that is added to the scores', masked, q=draw(2, 3, 8),
     k=draw(2, 5, 8), v=draw(2, 5, 6), mask=draw(2, 3, 5))

angles = torch.tensor([[0, -1.5, 3.140625], [10000, -100, 2**26]], dtype=torch.float64)   # each is a float
case('sin', 'sin(x)', torch.sin, input=angles)
case('cos', 'cos(x)', torch.cos, input=angles)

case('squeeze', 'squeeze(x, -2)', lambda x: x.squeeze(-2), x=draw(2, 1, 3))
case('squeeze_other', 'squeeze(x, 0), of size 2', lambda x: x.squeeze(0), x=draw(2, 3))
case('unsqueeze', 'unsqueeze(x, -2)', lambda x: x.unsqueeze(-2), x=draw(2, 3))
case('expand', 'expand(x, 2, -1, 4, 3)', lambda x: x.expand(2, -1, 4, 3), x=draw(2, 1, 3))
case('cross_entropy_unreduced', "reduction='none', the second row ignored",
     lambda input, target: F.cross_entropy(input, target, reduction='none'), input=3 * draw(5, 4),
     indices=dict(target=torch.tensor([2, -100, 0, 3, 3])))
