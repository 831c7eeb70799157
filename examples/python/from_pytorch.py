"""Converts a state dict of Raschka's GPTModel, nanoGPT or Hugging Face's GPT-2 from PyTorch to gradus.

    python3 examples/python/from_pytorch.py model.pt model.safetensors n_heads=12 gelu=tanh
    build/generate --model model.safetensors --ids "464 3290 318"

After the names: what the tensors do not show. n_heads, by default the embedding width / 64, and gelu, erf or
tanh, by default that of the model's family.
"""
import json
import struct
import sys

import torch

state = torch.load(sys.argv[1], map_location="cpu")
state = state.get("model", state)               # where nanoGPT's ckpt.pt has it
header, data = {"__metadata__": dict(word.split("=") for word in sys.argv[3:])}, bytearray()
for name, x in state.items():
    begin = len(data)
    data += x.float().contiguous().numpy().tobytes()
    header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
