#!/usr/bin/env python3
"""Reference trajectories of the optimisers, from PyTorch in float64 on the CPU.
usage: make_optim.py OUTDIR                              (tests/golden/optim was made with PyTorch 1.13)

Every trajectory has the parameters w (3, 2), b (4) and u (2, 2), their gradients of five steps (w.grad.1, ...),
and what the parameters are after each step (w.1, ...). Muon has matrices instead. Parameters and gradients are
multiples of 1/64, so that a float holds them exactly. `clip` has gradients and their norm, `schedule` learning
rates by step."""
import math, os, sys, torch

torch.set_num_threads(1)
out = None
SHAPES = {'w': (3, 2), 'b': (4,), 'u': (2, 2)}
MATRICES = {'tall': (6, 4), 'wide': (4, 6), 'square': (3, 3), 'row': (1, 5), 'large': (17, 9)}
STEPS = 5


def begin(system):
    global out
    out = open(os.path.join(sys.argv[1], system + '.txt'), 'w')
    print('# made by make_optim.py: PyTorch %s, CPU, float64' % torch.__version__, file=out)
    print('source torch\nsystem', system, file=out)


def end():
    print('end', file=out)
    out.close()


def tensor(role, name, t, tol=0):
    t = torch.as_tensor(t, dtype=torch.float64)
    print('tensor', role, name, '%g' % tol, t.dim(), *t.shape, file=out)
    rows = t.reshape(-1, t.shape[-1]) if t.dim() else t.reshape(1, 1)
    for row in rows.tolist():
        print(*('%.17g' % x for x in row), file=out)


def values(shape, k):
    """An irregular sequence, depending on k, of multiples of 1/64 in (-2, 2)."""
    n = math.prod(shape)
    return torch.tensor([((i * i * 37 + i * 11 + k * 101) % 251 - 125) / 64 for i in range(n)],
                        dtype=torch.float64).reshape(shape)


def trajectory(name, shapes, numbers, make, after=lambda p: None):
    """make(p) gives step(); `after` runs after every backward, before the step."""
    p = {n: values(s, k).requires_grad_() for k, (n, s) in enumerate(shapes.items())}
    start = {n: x.detach().clone() for n, x in p.items()}
    step = make(p)
    grads, states = [], []
    for i in range(1, STEPS + 1):
        for k, (n, s) in enumerate(shapes.items()):
            p[n].grad = values(s, 7 * i + k)
        grads.append({n: x.grad.clone() for n, x in p.items()})
        after(p)
        step()
        states.append({n: x.detach().clone() for n, x in p.items()})
    begin(name)
    for n, x in numbers.items():
        tensor('input', n, x)
    for n, x in start.items():
        tensor('param', n, x)
    for i in range(STEPS):
        for n in shapes:
            tensor('input', '%s.grad.%d' % (n, i + 1), grads[i][n])
        for n in shapes:
            tensor('expect', '%s.%d' % (n, i + 1), states[i][n], 1e-12)
    end()


def plain(cls, **args):
    return lambda p: cls(list(p.values()), **args).step


def without_b(p):                               # no gradient: PyTorch skips it
    p['b'].grad = None


def newton_schulz(u):
    x = u / (u.norm() + 1e-7)
    if u.shape[0] > u.shape[1]:
        x = x.T
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if u.shape[0] > u.shape[1] else x


def muon(lr, momentum, weight_decay):           # like Jordan's reference, in float64
    def make(p):
        buf = {n: torch.zeros_like(x) for n, x in p.items()}

        def step():
            with torch.no_grad():
                for n, x in p.items():
                    buf[n].lerp_(x.grad, 1 - momentum)
                    update = newton_schulz(x.grad.lerp(buf[n], momentum))
                    x.mul_(1 - lr * weight_decay)
                    x.add_(update, alpha=-lr * max(1, x.shape[0] / x.shape[1]) ** 0.5)
        return step
    return make


os.makedirs(sys.argv[1], exist_ok=True)

a = dict(lr=0.1)
trajectory('sgd', SHAPES, a, plain(torch.optim.SGD, **a))
a = dict(lr=0.1, momentum=0.9)
trajectory('sgd_momentum', SHAPES, a, plain(torch.optim.SGD, **a))
a = dict(lr=0.1, momentum=0.5, weight_decay=0.25)
trajectory('sgd_decay', SHAPES, a, plain(torch.optim.SGD, **a))
trajectory('sgd_frozen', SHAPES, a, plain(torch.optim.SGD, **a), without_b)

a = dict(lr=0.05)
trajectory('adamw_defaults', SHAPES, a, plain(torch.optim.AdamW, **a))
a = dict(lr=0.05, beta1=0, beta2=0, weight_decay=0)
trajectory('adamw_no_momentum', SHAPES, a, plain(torch.optim.AdamW, lr=0.05, betas=(0, 0), weight_decay=0))
a = dict(lr=0.05, beta1=0.8, beta2=0.95, eps=0.125, weight_decay=0.3)
make = plain(torch.optim.AdamW, lr=0.05, betas=(0.8, 0.95), eps=0.125, weight_decay=0.3)
trajectory('adamw', SHAPES, a, make)
trajectory('adamw_frozen', SHAPES, a, make, without_b)
a = dict(lr=0.05, weight_decay=0.5)             # the decay of the matrices; vectors have none
trajectory('adamw_groups', SHAPES, a, lambda p: torch.optim.AdamW(
    [dict(params=[x for x in p.values() if x.dim() >= 2], weight_decay=0.5),
     dict(params=[x for x in p.values() if x.dim() < 2], weight_decay=0)], lr=0.05).step)

a = dict(lr=0.02, momentum=0.95, weight_decay=0)
trajectory('muon', MATRICES, a, muon(**a))
a = dict(lr=0.1, momentum=0.5, weight_decay=0.25)
trajectory('muon_decay', MATRICES, a, muon(**a))

for name, max_norm in ('clip', 1.5), ('clip_not', 100.0):
    p = [torch.zeros(s, dtype=torch.float64) for s in SHAPES.values()]
    for k, (x, s) in enumerate(zip(p, SHAPES.values())):
        x.grad = values(s, k)
    begin(name)
    tensor('input', 'max_norm', max_norm)
    for n, x in zip(SHAPES, p):
        tensor('input', n + '.grad', x.grad)
    tensor('expect', 'norm', torch.nn.utils.clip_grad_norm_(p, max_norm), 1e-12)
    for n, x in zip(SHAPES, p):
        tensor('expect', n + '.clipped', x.grad, 1e-12)
    end()


def cosine(step, warmup, steps, lr, low):       # nanoGPT's get_lr, with its warm-up one step later
    if step < warmup:
        return lr * (step + 1) / warmup
    if step >= steps:
        return low
    return low + 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup))) * (lr - low)


def linear(step, warmup, hold, steps, lr, low):
    if step < warmup:
        return lr * (step + 1) / warmup
    hold = max(hold, warmup)
    return low if step >= steps else lr if step < hold else lr - (lr - low) * (step - hold) / (steps - hold)


SOME = [0, 1, 4, 9, 10, 11, 29, 30, 31, 55, 98, 99, 100, 101, 1000]
begin('schedule')
tensor('input', 'step', [float(s) for s in SOME])
tensor('expect', 'cosine_10_100', [cosine(s, 10, 100, 4e-3, 4e-4) for s in SOME], 1e-17)
tensor('expect', 'cosine_0_100', [cosine(s, 0, 100, 4e-3, 4e-4) for s in SOME], 1e-17)
tensor('expect', 'cosine_100_50', [cosine(s, 100, 50, 4e-3, 4e-4) for s in SOME], 1e-17)
tensor('expect', 'cosine_100_100', [cosine(s, 100, 100, 4e-3, 4e-4) for s in SOME], 1e-17)
tensor('expect', 'linear_10_30_100', [linear(s, 10, 30, 100, 0.02, 4e-4) for s in SOME], 1e-16)
tensor('expect', 'linear_0_0_100', [linear(s, 0, 0, 100, 0.02, 4e-4) for s in SOME], 1e-16)
tensor('expect', 'linear_55_30_100', [linear(s, 55, 30, 100, 0.02, 4e-4) for s in SOME], 1e-16)
tensor('expect', 'linear_100_30_100', [linear(s, 100, 30, 100, 0.02, 4e-4) for s in SOME], 1e-16)
end()
