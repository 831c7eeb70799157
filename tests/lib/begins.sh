# shellcheck shell=sh
# begins ID FILE: adds to a tokenizer.json the template that puts <|endoftext|>, token ID, before each text.
begins() {
    end='<|endoftext|>'
    part() { echo "{\"$1\":{\"id\":\"$2\",\"type_id\":$3}}"; }
    single="[$(part SpecialToken "$end" 0),$(part Sequence A 0)]"
    pair="[$(part Sequence A 0),$(part Sequence B 1)]"
    special="{\"$end\":{\"id\":\"$end\",\"ids\":[$1],\"tokens\":[\"$end\"]}}"
    new="{\"type\":\"TemplateProcessing\",\"single\":$single,\"pair\":$pair,\"special_tokens\":$special}"
    sed "s/\"post_processor\":{[^}]*}/\"post_processor\":$new/" "$2" >"$2.new" && mv "$2.new" "$2"
}
