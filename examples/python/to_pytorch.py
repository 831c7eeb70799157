"""Converts a model of gradus to a PyTorch state dict with the names of Raschka's GPTModel.

    python3 examples/python/to_pytorch.py build/run/model.safetensors model.pt

In PyTorch: model.load_state_dict(torch.load("model.pt"), strict=False): masks are not parameters.
With the package safetensors, safetensors.torch.load_file reads the file directly.
"""
import json
import struct
import sys

import torch

state = {}
with open(sys.argv[1], "rb") as f:
    length, = struct.unpack("<Q", f.read(8))
    header, data = json.loads(f.read(length)), f.read()
header.pop("__metadata__", None)
for name, x in header.items():
    begin, end = x["data_offsets"]
    dtype = {"F32": torch.float32, "F64": torch.float64}[x["dtype"]]
    state[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).reshape(x["shape"])
torch.save(state, sys.argv[2])
