#!/usr/bin/env python3
"""A text, its byte-pair encoding by brute force, and vectors: the expected results of a tokenizer.
usage: make_tokenizer.py OUTDIR                 (tests/golden/tokenizer; Python 3.11, Unicode 14)

text.txt        what the merges are learnt from: sentences, code, several scripts, and words of few letters,
                in which many pairs are equally frequent
vocab.json, merges.txt      as Hugging Face writes them
vectors.txt     strings as hexadecimal bytes (- if it is empty), and their tokens

Only the standard library: the pattern of GPT-2 with its classes written out, all pairs counted again for each
merge, and an encoder that tries one merge after another. Characters newer than Unicode 14 are not used."""
import collections, json, os, random, re, sys, unicodedata

SIZE = 700
SPACES = [*range(9, 14), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F,
          0x3000]


def chars_of(category):
    return ''.join(re.escape(chr(c)) for c in range(0x110000) if unicodedata.category(chr(c))[0] == category)


S, L, N = ''.join(re.escape(chr(c)) for c in SPACES), chars_of('L'), chars_of('N')
PIECES = re.compile(f"'s|'t|'re|'ve|'m|'ll|'d| ?[{L}]+| ?[{N}]+| ?[^{S}{L}{N}]+|[{S}]+(?![^{S}])|[{S}]+")


def split(text):                        # bytes to bytes; a byte outside any character is a surrogate
    found = PIECES.findall(text.decode('utf-8', 'surrogateescape'))
    return [piece.encode('utf-8', 'surrogateescape') for piece in found]


def printed():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {b: chr(b) for b in plain}
    for b in range(256):
        table.setdefault(b, chr(256 + len(table) - len(plain)))
    return table


PRINTED = printed()
BYTES = sorted(range(256), key=lambda b: PRINTED[b])            # in the order of their ids


def join(symbols, pair, new):
    out, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i:i + 2]) == pair:
            out.append(new)
            i += 2
        else:
            out.append(symbols[i])
            i += 1
    return out


def train(text, size):
    tokens = [bytes([b]) for b in BYTES]
    words = [(list(map(BYTES.index, word)), n) for word, n in collections.Counter(split(text)).items()]
    merges = []
    while len(tokens) < size:
        count = collections.Counter()
        for word, n in words:
            for pair in zip(word, word[1:]):
                count[pair] += n
        pair = min(count, key=lambda p: (-count[p], p))
        if count[pair] < 2:
            break
        made = tokens[pair[0]] + tokens[pair[1]]
        if made not in tokens:
            tokens.append(made)
        merges.append(pair)
        words = [(join(word, pair, tokens.index(made)), n) for word, n in words]
    return tokens, merges


def encode(text, tokens, merges):
    ids = []
    for piece in split(text):
        word = list(map(BYTES.index, piece))
        for pair in merges:
            word = join(word, pair, tokens.index(tokens[pair[0]] + tokens[pair[1]]))
        ids += word
    return ids


def text_of(rng):
    lines = ["The tape is a list threaded through the tensors, newest first; it isn't sorted, and we'll "
             "never need it.",
             "A gradient flows backwards: each op adds to its inputs' gradients what the chain rule asks "
             "for.",
             "for (int i = 0; i < n; i++)\n    dx[i] += dy[i] * (1 - y[i] * y[i]);\n\n\treturn 0;",
             "Über den Wolken: größer, höher, weiter. L'été, le cœur; ¿dónde está? Ωμέγα, Москва, 東京 42, "
             "٣٤ ½, עברית.",
             "They've said that it's what they'd do, that's all; 1234567 and 3.14159, 2^10 = 1024.",
             "  two blanks,   three,\t a tab \u00a0 and \u3000 wide ones \n\n\n \n"]
    words = [''.join(rng.choice('ab') for _ in range(rng.randrange(2, 9))) for _ in range(150)]
    words += [''.join(rng.choice('xyz') for _ in range(rng.randrange(2, 7))) for _ in range(150)]
    return ('\n'.join(lines) + '\n' + ' '.join(words) + '\n' + '\n'.join(lines) + '\n').encode()


def strings(rng, text):
    yield from (b'', b'a', b' ', b'\n', b"'", b"'s", b"'S'sa", b"we'll they've I'd you're 'tis", b"!'s ''ll")
    yield from (s.encode() for s in (
        '  a', 'a  ', ' \n ', '\n\n a', ' \u00a0x', 'x\u3000\u3000y', '\x1c\x1f', '\u0085\ufeff\u200b',
            'e\u0301a',
        '東京都 2024年', 'नमस्ते', '😀 👩‍👩‍👧', 'abc123def', '½²³ Ⅷ ٣', 'ﬀŉǅ', '<|endoftext|>', 'a' * 100,
            'ab' * 60,
        ' ' * 70, '\n' * 40 + 'x', '#' * 33, 'aaabab ' * 9, 'xyzzy' * 20))
    yield from (b'\xff', b'a\x80b', b'\xc0\xaf', b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'\xe4\xb8',
        b'\xf0\x9f\x98',
                b'\xe0\x80\xafx', b'\x00\x01\x7f', bytes(range(256)))
    some = ['a', 'b', 'x', ' ', ' ', '\n', '\t', "'", "'s", '1', '2', '!', '.', 'é', '東', '\u00a0',
        '\u0301', '😀', 'the']
    for _ in range(120):
        yield ''.join(rng.choice(some) for _ in range(rng.randrange(1, 30))).encode()
    for _ in range(60):
        at = rng.randrange(len(text))
        yield text[at:at + rng.randrange(1, 60)]                # may begin and end inside a character
    for _ in range(40):
        yield bytes(rng.choice((0x20, 0x61, 0x80, 0xbf, 0xc3, 0xa9, 0xe4, 0xf0, 0xff)) for _ in range(12))


def main(folder):
    rng = random.Random(1)
    text = text_of(rng)
    tokens, merges = train(text, SIZE)
    name = [''.join(PRINTED[b] for b in token) for token in tokens]
    with open(os.path.join(folder, 'text.txt'), 'wb') as f:
        f.write(text)
    with open(os.path.join(folder, 'vocab.json'), 'w', encoding='utf-8', newline='\n') as f:
        json.dump({n: i for i, n in enumerate(name)}, f, ensure_ascii=False, separators=(',', ':'))
        print(file=f)
    with open(os.path.join(folder, 'merges.txt'), 'w', encoding='utf-8', newline='\n') as f:
        print('#version: 0.2', *(f'{name[a]} {name[b]}' for a, b in merges), sep='\n', file=f)
    with open(os.path.join(folder, 'vectors.txt'), 'w', newline='\n') as f:
        for string in strings(rng, text):
            print(string.hex() or '-', *encode(string, tokens, merges), file=f)
    print(f'{len(tokens)} tokens, {len(merges)} merges')


if __name__ == '__main__':
    main(sys.argv[1])
