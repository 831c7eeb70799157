#!/bin/sh
# A model by Hugging Face's names, written (--layout huggingface) and trained further (--from).
. tests/lib/ok.sh

small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-every 10 --eval-batches 4 --sample 0
       --quiet"
data=core/gradus.h

text() {        # text FOLDER: what its model writes
    "$GENERATE" --model "$1" --prompt 'int ' --tokens 200
}
same_text() {   # same_text A B
    text "$1" >"$W/a.txt" && text "$2" >"$W/b.txt" && cmp "$W/a.txt" "$W/b.txt"
}
names() {       # names FILE: the names of its tensors
    head -c 100000 "$1" | tr -d '\000' | grep -ao '"[a-z_A-Z0-9.]*":{"dtype"' | cut -d '"' -f 2
}

group "--layout huggingface"
ok "a run" ends_with 0 "$TRAIN" $small --data $data --steps 20 --out "$W/ours"
ok "the same by other names" ends_with 0 "$TRAIN" $small --data $data --steps 20 --layout huggingface \
    --out "$W/theirs"
ok "... writes the same text" same_text "$W/ours" "$W/theirs"
for file in model best; do
    ok "... $file has GPT-2's names" sh -c 'echo "$1" | grep -qx transformer.h.1.attn.c_attn.weight' - \
        "$(names "$W/theirs/$file.safetensors")"
done
ok "... with a config.json" grep -qx '  "n_embd": 16,' "$W/theirs/config.json"
ok "... the others have none" test ! -e "$W/ours/config.json"
ok "a finished run is converted" ends_with 0 "$TRAIN" --resume "$W/ours" --layout huggingface
ok "... to the same file" cmp "$W/ours/model.safetensors" "$W/theirs/model.safetensors"
ok "... and config.json" cmp "$W/ours/config.json" "$W/theirs/config.json"
ok "a run by our names replaces it" ends_with 0 "$TRAIN" $small --data $data --steps 20 --out "$W/theirs"
ok "... and its config.json" test ! -e "$W/theirs/config.json"
finish
