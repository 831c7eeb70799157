#!/usr/bin/env python3
"""The model of examples/06_microgpt.c in plain Python, where every number is a node of the tape.
usage: make_microgpt.py > microgpt.txt          (tests/golden/microgpt.txt was made with Python 3.11)
       make_microgpt.py names.txt               (names of yours, one per line)

Without a file it takes the names in the lesson's source. It prints what the lesson prints if it is given the
same names as a file. On stderr it writes the nodes of the first step, and the processor's time."""
import math, random, re, sys, time

WIDTH, HEADS, BLOCK, STEPS = 16, 4, 16, 1000
DEPTH = WIDTH // HEADS                          # of a head
tape = []                                       # all nodes of a step, in the order in which they were computed


class Number:
    """A value, its one or two operands, and its derivatives with respect to them."""
    __slots__ = 'value', 'grad', 'a', 'da', 'b', 'db'

    def __init__(self, value, a=None, da=0.0, b=None, db=0.0):
        self.value, self.grad, self.a, self.da, self.b, self.db = value, 0.0, a, da, b, db
        if a is not None:                       # parameters are not on the tape: they outlive a step
            tape.append(self)

    def __add__(x, y):
        return Number(x.value + y.value, x, 1.0, y, 1.0)

    def __mul__(x, y):
        return Number(x.value * y.value, x, y.value, y, x.value)

    def __truediv__(x, y):
        return Number(x.value / y.value, x, 1 / y.value, y, -x.value / (y.value * y.value))

    def plus(x, constant):
        return Number(x.value + constant, x, 1.0)

    def times(x, constant):
        return Number(x.value * constant, x, constant)

    def power(x, p):
        return Number(x.value ** p, x, p * x.value ** (p - 1))

    def exp(x):
        y = math.exp(x.value)
        return Number(y, x, y)

    def log(x):
        return Number(math.log(x.value), x, 1 / x.value)

    def relu(x):
        return Number(x.value, x, 1.0) if x.value > 0 else Number(0.0, x, 0.0)


def backward(loss):
    loss.grad = 1.0
    for y in reversed(tape):
        dy = y.grad
        y.a.grad += y.da * dy
        if y.b is not None:
            y.b.grad += y.db * dy


def dot(w, x):
    y = w[0] * x[0]
    for i in range(1, len(w)):
        y = y + w[i] * x[i]
    return y


def linear(w, x):
    return [dot(row, x) for row in w]


def norm(x):
    scale = dot(x, x).times(1 / len(x)).plus(1e-5).power(-0.5)
    return [v * scale for v in x]


def softmax(x):
    largest = max(v.value for v in x)
    e = [v.plus(-largest).exp() for v in x]
    total = e[0]
    for v in e[1:]:
        total = total + v
    return [v / total for v in e]


def head(q, keys, values, at):                  # one head at one position: its numbers begin at index `at`
    here = slice(at, at + DEPTH)
    p = softmax([dot(q[here], k[here]).times(DEPTH ** -0.5) for k in keys])
    return [dot(p, [v[at + j] for v in values]) for j in range(DEPTH)]


def forward(w, token, position, keys, values):
    """The logits after this token. Keys and values keep those of earlier positions."""
    x = norm([a + b for a, b in zip(w['wte'][token], w['wpe'][position])])
    y = norm(x)
    q = linear(w['wq'], y)
    keys.append(linear(w['wk'], y))
    values.append(linear(w['wv'], y))
    y = [v for h in range(HEADS) for v in head(q, keys, values, h * DEPTH)]
    x = [a + b for a, b in zip(linear(w['wo'], y), x)]
    y = [v.relu() for v in linear(w['fc1'], norm(x))]
    x = [a + b for a, b in zip(linear(w['fc2'], y), x)]
    return linear(w['lm_head'], x)


def loss_of(w, ids):
    n = min(BLOCK, len(ids) - 1)
    keys, values, total = [], [], None
    for i in range(n):
        p = softmax(forward(w, ids[i], i, keys, values))
        log = p[ids[i + 1]].log()
        total = log if total is None else total + log
    return total.times(-1 / n)


def main():
    began = time.process_time()
    if len(sys.argv) > 1:
        names = open(sys.argv[1]).read().split('\n')
    else:
        source = open('examples/06_microgpt.c').read()
        names = re.findall('"(.*?)"', re.search(r'own\[\] = \{(.*?)\};', source, re.S).group(1))
    names = [name.strip() for name in names if name.strip()]
    random.seed(42)
    random.shuffle(names)
    letters = sorted(set(''.join(names)))
    begin = len(letters)                        # begins and ends a name
    vocab = begin + 1

    sizes = {'wte': (vocab, WIDTH), 'wpe': (BLOCK, WIDTH), 'lm_head': (vocab, WIDTH)}
    sizes.update({name: (WIDTH, WIDTH) for name in ('wq', 'wk', 'wv', 'wo')})
    sizes.update(fc1=(4 * WIDTH, WIDTH), fc2=(WIDTH, 4 * WIDTH))
    w = {name: [[Number(random.gauss(0, 0.08)) for _ in range(columns)] for _ in range(rows)]
         for name, (rows, columns) in sizes.items()}
    parameters = [p for matrix in w.values() for row in matrix for p in row]
    print('num docs: %d\nvocab size: %d\nnum params: %d' % (len(names), vocab, len(parameters)))

    m, v = [0.0] * len(parameters), [0.0] * len(parameters)                 # Adam's moments
    beta1, beta2 = 0.85, 0.99
    nodes = 0
    for step in range(STEPS):
        name = names[step % len(names)]
        ids = [begin] + [letters.index(c) for c in name] + [begin]
        tape.clear()
        loss = loss_of(w, ids)
        backward(loss)
        nodes += len(tape)
        lr = 0.01 * (1 - step / STEPS)
        for i, p in enumerate(parameters):
            m[i] = beta1 * m[i] + (1 - beta1) * p.grad
            v[i] = beta2 * v[i] + (1 - beta2) * p.grad ** 2
            m_hat, v_hat = m[i] / (1 - beta1 ** (step + 1)), v[i] / (1 - beta2 ** (step + 1))
            p.value -= lr * m_hat / (math.sqrt(v_hat) + 1e-8)
            p.grad = 0.0
        print('step %4d / %4d | loss %.4f' % (step + 1, STEPS, loss.value))
        if step == 0:
            print('the first step: %s, %d nodes' % (name, nodes), file=sys.stderr)
    each = (time.process_time() - began) / nodes

    print('\n--- inference (new, hallucinated names) ---')
    for sample in range(1, 21):
        token, keys, values, text = begin, [], [], ''
        for position in range(BLOCK):
            tape.clear()
            p = softmax([x.times(1 / 0.5) for x in forward(w, token, position, keys, values)])
            token = random.choices(range(vocab), [x.value for x in p])[0]
            if token == begin:
                break
            text += letters[token]
        print('sample %2d: %s' % (sample, text))
    print('%.1f s, %.2f microseconds per node' % (time.process_time() - began, 1e6 * each), file=sys.stderr)


main()
