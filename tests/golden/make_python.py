#!/usr/bin/env python3
"""Numbers that Python's module random draws from a seed.
usage: make_python.py > python.txt              (tests/golden/python.txt was made with Python 3.11)

A line is: what is drawn, the seed, how many values, two arguments, the first value and the last, and the hash
(FNV-1a, 64 bits) of all, value by value, least significant byte first. What is drawn:

    words           getrandbits(32), 4 bytes each
    random          random(), 8 bytes each
    shuffle         0 ... n - 1 shuffled, 4 bytes each
    gauss           gauss(mu, sigma), 8 bytes each
    choices         choices(range(a), weights) again and again, 4 bytes each; the weights are (7 i mod 11) / b
    mixed           in turn gauss(mu, sigma), random() and the sum of i x_i of 0 ... 9 shuffled, 8 bytes each: the
                    second normal of a pair is kept while other numbers are drawn"""
import random, struct


def line(kind, seed, x, form, a=0, b=0):
    h = 0xcbf29ce484222325
    for byte in b''.join(struct.pack(form, v) for v in x):
        h = (h ^ byte) * 0x100000001b3 % 2**64
    print(kind, seed, len(x), '%.17g %.17g %.17g %.17g %016x' % (a, b, x[0], x[-1], h))


def shuffled(n):
    x = list(range(n))
    random.shuffle(x)
    return x


def mixed(n, mu, sigma):
    kinds = (lambda: random.gauss(mu, sigma), random.random,
             lambda: float(sum(i * x for i, x in enumerate(shuffled(10)))))
    return [kinds[i % 3]() for i in range(n)]


print('# made by make_python.py')
seeds = [0, 1, 42, 123, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**32 + 42, 2**63, 2**64 - 2**32, 2**64 - 1]
for seed in seeds:
    random.seed(seed)
    line('words', seed, [random.getrandbits(32) for _ in range(1500)], '<I')
    random.seed(seed)
    line('random', seed, [random.random() for _ in range(1000)], '<d')
    random.seed(seed)
    line('mixed', seed, mixed(300, 0.5, 2), '<d', 0.5, 2)
for i, n in enumerate([1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 100, 255, 256, 257, 1000, 3000]):
    random.seed(i)
    line('shuffle', i, shuffled(n), '<I')
for i, (n, mu, sigma) in enumerate([(1, 0, 1), (2, 0, 1), (3, 0, 1), (4, 0, 0.08), (5, -1, 0), (15, 0, 0.02),
                                    (16, 0, 1), (17, 1 / 3, 1 / 3), (1000, 0.1, 0.3), (2999, -7, 1e-3)]):
    random.seed(i)
    line('gauss', i, [random.gauss(mu, sigma) for _ in range(n)], '<d', mu, sigma)
for i, (n, b) in enumerate([(2, 1), (3, 1), (5, 32), (11, 0.125), (12, 1), (23, 64), (27, 1), (257, 1024)]):
    random.seed(i)
    weights = [7 * k % 11 / b for k in range(n)]
    line('choices', i, [random.choices(range(n), weights)[0] for _ in range(1000)], '<I', n, b)
