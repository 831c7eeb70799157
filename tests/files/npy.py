"""NumPy's side of tests/files/test_npy.c: `write FOLDER` makes arrays for gradus to read, `check FOLDER` reads what gradus wrote.

Array k of the test holds k, k + 1/2, k + 1 ... in C's order.
"""
import sys

import numpy as np
from numpy.lib import format as npy

SHAPES = [(), (1,), (3,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 2, 1, 3, 1, 2, 1, 2)]


def values(k, shape, dtype):
    n = int(np.prod(shape, dtype=int))
    return (k + 0.5 * np.arange(n)).astype(dtype).reshape(shape)


def write(folder):
    k = 0
    for dtype in ("<f4", "<f8"):
        for shape in SHAPES:
            np.save("%s/%d.npy" % (folder, k), values(k, shape, dtype))
            k += 1
    turned = np.asfortranarray(values(0, (2, 3), "<f8"))
    np.save(folder + "/converted.npy", np.asarray(turned, dtype='<f4', order='C'))
    with open(folder + "/version.npy", "wb") as f:
        npy.write_array(f, np.ones(2, "<f4"), version=(2, 0))
    print(k)


def check(folder):
    own = np.dtype(sys.argv[3])
    for k, shape in enumerate(SHAPES):
        x = np.load("%s/%d.npy" % (folder, k), allow_pickle=False)
        assert x.dtype == own and x.shape == shape and x.flags.c_contiguous, (k, x.dtype, x.shape)
        assert (x == values(k, shape, own)).all(), (k, x)
    with open(folder + "/0.npy", "rb") as f:
        assert npy.read_magic(f) == (1, 0)
        npy.read_array_header_1_0(f)
        assert f.tell() % 64 == 0


{"write": write, "check": check}[sys.argv[1]](sys.argv[2])
