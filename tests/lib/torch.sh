# torch.sh: sourced after ok.sh by the scripts that compare with PyTorch. It sets `python`, an interpreter
# that has PyTorch, or ends the script with a sentence if there is none. PYTHON=... names an interpreter to
# try.
python=
for candidate in ${PYTHON:-python3 /usr/bin/python3}; do
    if "$candidate" -c 'import numpy, torch' >"$W/python" 2>&1; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then
    echo "$SCRIPT: left out: PyTorch is not installed (on Debian: apt install python3-torch)"
    exit 0
fi
