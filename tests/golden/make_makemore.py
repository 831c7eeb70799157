"""The losses of lesson 09 on its names, by PyTorch (1.13): parts 1 and 3. python3 make_makemore.py"""
import random
import torch
import torch.nn.functional as F

names = 'ada alan barbara claude donald frances grace john ken linus robin'.split()


def windows(words, block):
    x, y = [], []
    for word in words:
        context = [0] * block
        for c in [ord(c) - 96 for c in word] + [0]:
            x.append(context)
            y.append(c)
            context = context[1:] + [c]
    return torch.tensor(x), torch.tensor(y)


x, y = windows(names, 1)
g = torch.Generator().manual_seed(2147483647)
w = torch.randn((27, 27), generator=g, requires_grad=True)
for step in range(20):
    p = F.one_hot(x[:, 0], 27).float() @ w
    p = p.exp() / p.exp().sum(1, keepdim=True)
    loss = -p[torch.arange(len(y)), y].log().mean() + 0.01 * (w ** 2).mean()
    w.grad = None
    loss.backward()
    w.data -= 50 * w.grad
print('%3d: %.5f' % (step, loss.item()))

random.seed(42)
random.shuffle(names)
x, y = windows(names[:len(names) * 8 // 10], 3)
g = torch.Generator().manual_seed(2147483647)
emb = torch.randn((27, 10), generator=g)
w1 = torch.randn((30, 200), generator=g) * (5 / 3) / (30 ** 0.5)
w2 = torch.randn((200, 27), generator=g) * 0.01
b2 = torch.randn(27, generator=g) * 0
gain, bias = torch.ones(200), torch.zeros(200)
for p in (emb, w1, w2, b2, gain, bias):
    p.requires_grad = True
for step in range(20):
    i = torch.randint(0, len(x), (32,), generator=g)
    h = emb[x[i]].view(32, -1) @ w1
    h = gain * (h - h.mean(0, keepdim=True)) / h.std(0, keepdim=True) + bias
    loss = F.cross_entropy(torch.tanh(h) @ w2 + b2, y[i])
    for p in (emb, w1, w2, b2, gain, bias):
        p.grad = None
    loss.backward()
    for p in (emb, w1, w2, b2, gain, bias):
        p.data -= 0.1 * p.grad
    print('%7d/%7d: %.4f' % (step, 20, loss.item()))
