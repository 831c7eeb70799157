#!/bin/sh
# PyTorch and gradus compute the same logits from each other's files, in three naming schemes.
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
. tests/lib/torch.sh

small="--context 16 --batch 4 --width 48 --heads 3 --layers 2 --steps 30 --sample 0 --quiet"
# shellcheck disable=SC2086
{
    ok "train a GPT-2" "$TRAIN" $small --out "$W/tied"
    ok "train with all biases" "$TRAIN" $small --no-tied --bias --qkv-bias --gelu tanh --out "$W/biased"
}
"$python" -B tests/files/interop.py "$GENERATE" "$W" "$W/tied" "$W/biased" >"$W/interop" 2>&1
ok "PyTorch's logits are ours" test $? -eq 0
grep -v "^ok" "$W/interop"
passed=$((passed + $(grep -c '^ok' "$W/interop")))
finish
