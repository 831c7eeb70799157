#!/bin/sh
# PyTorch and gradus tune the same GPT-2 alike, from a folder in Hugging Face's format.
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
. tests/lib/torch.sh

"$python" -B tests/files/tune.py "$TRAIN" "$GENERATE" "$W" >"$W/tune" 2>&1
ok "PyTorch's losses and logits are ours" test $? -eq 0
grep -E '^(ok|FAILED)|Error' "$W/tune"
passed=$((passed + $(grep -c '^ok' "$W/tune")))
finish
