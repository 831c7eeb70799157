"""Converts a state dict of Raschka's GPTModel, nanoGPT or Hugging Face's GPT-2 from PyTorch to gradus.

    python3 examples/python/from_pytorch.py model.pt model.safetensors n_heads=12 gelu=tanh
    build/generate --model model.safetensors --ids "464 3290 318"

The model may be saved whole, and the state dict may lie within dictionaries (model_state_dict, state_dict,
model ...). After the names: what the tensors do not show. n_heads, by default the embedding width / 64, and
gelu, erf or tanh, by default that of the model's family.
"""
import json
import struct
import sys

import torch


def state_dicts(x, at):
    """The dictionaries of tensors in x that have a table of token embeddings, and where they are."""
    x = x.state_dict() if isinstance(x, torch.nn.Module) else x
    if not isinstance(x, dict):
        return []
    tensors = {name: y for name, y in x.items() if isinstance(y, torch.Tensor)}
    tables = ("tok_emb.weight", "out_head.weight", "wte.weight", "lm_head.weight")
    if any(str(name).endswith(tables) for name in tensors):
        return [(at, tensors)]
    return [found for name, y in x.items() for found in state_dicts(y, f"{at}[{name!r}]")]


found = state_dicts(torch.load(sys.argv[1], map_location="cpu"), sys.argv[1])
found = [x for x in found if x[0] == f"{sys.argv[1]}['model']"] or found      # where nanoGPT's ckpt.pt has it
if len(found) != 1:
    sys.exit(f"{sys.argv[1]}: expected one model with a tok_emb.weight or wte.weight, got "
             + (", ".join(at for at, _ in found) or "none"))
state = found[0][1]
header, data = {"__metadata__": dict(word.split("=") for word in sys.argv[3:])}, bytearray()
for name, x in state.items():
    begin = len(data)
    data += x.float().contiguous().numpy().tobytes()
    header[name] = {"dtype": "F32", "shape": list(x.shape), "data_offsets": [begin, len(data)]}
text = json.dumps(header).encode()
with open(sys.argv[2], "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text + data)
