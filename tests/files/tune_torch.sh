#!/bin/sh
# PyTorch and gradus tune the same GPT-2 alike, from a folder as Hugging Face has it.
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh

python=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
    if "$candidate" -c 'import numpy, torch' >"$W/python" 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "tune_torch.sh: left out: PyTorch is not installed (on Debian: apt install python3-torch)"
    exit 0
fi

"$python" -B tests/files/tune.py "$TRAIN" "$GENERATE" "$W" >"$W/tune" 2>&1
ok "PyTorch's losses and logits are ours" test $? -eq 0
grep -E '^(ok|FAILED)|Error' "$W/tune"
passed=$((passed + $(grep -c '^ok' "$W/tune")))
finish
