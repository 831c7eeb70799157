# torch.sh: sourced after ok.sh by the scripts that compare with PyTorch: sets `python`, an interpreter that
# has it; where there is none, the script ends with a sentence. PYTHON=... names one to try.
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
