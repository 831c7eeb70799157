// ---- the settings of a run: a form whose fields have the names of build/train's flags, a text, files ----

const TEXT = { most: 4e6, shown: 20000 };                // bytes of a text, and of a file that is shown whole
let file_text = null;                                   // { name, bytes }: a file, until the text is edited

// The flags, each written out, though some are build/train's defaults.
function flags_of_form() {
    const flags = [];
    for (const field of by_id("run_form").elements)
        if (field.name && field.type === "checkbox") flags.push(...field.checked ? ["--" + field.name] : []);
        else if (field.name) flags.push(`--${field.name} ${field.value}`);
    return flags.join(" ");
}

function text_bytes() {
    return file_text ? file_text.bytes : new TextEncoder().encode(by_id("run_text").value);
}

// The beginning of a text's first line, for a prompt.
function beginning(text, most) { return [...text.trimStart().split("\n")[0]].slice(0, most).join(""); }

function say_text() {
    const n = text_bytes().length.toLocaleString("en"), shown = by_id("run_text").value.length;
    document.querySelector("#run_goal pre").textContent = by_id("run_text").value.trim();
    by_id("run_text_facts").textContent = !file_text ? `${n} bytes`
        : shown < file_text.bytes.length ? `${file_text.name}: ${n} bytes, of which the first are shown`
            : `${file_text.name}: ${n} bytes`;
}

// A file is learned byte by byte, UTF-8 or not; what the form shows of it is text.
async function take_text(file, changed) {
    if (!file) return;
    const name = file.name.replace(turning, "\ufffd");
    if (file.size > TEXT.most) {
        say_error(`${name} has ${file.size} bytes, expected at most ${TEXT.most}: use build/train`);
        return;
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    by_id("run_text").value = new TextDecoder().decode(bytes.subarray(0, TEXT.shown));
    file_text = { name, bytes };
    changed();
}

// changed is called when a new run must begin: at each choice, and when typing in the text has paused;
// changed_rate when only the learning rate or the batch has changed.
function start_controls(changed, changed_rate) {
    const form = by_id("run_form"), text = by_id("run_text"), file = by_id("run_file");
    let typing = 0;
    text.addEventListener("input", () => {
        file_text = null;
        say_text();
        clearTimeout(typing);
        typing = setTimeout(changed, 600);
    });
    form.addEventListener("change", ({ target: { name } }) => {
        if (name === "lr" || name === "batch") changed_rate();
        else if (name) changed();
    });
    form.addEventListener("submit", event => event.preventDefault());
    file.addEventListener("change", () => {
        take_text(file.files[0], changed);
        file.value = "";                // the same file can be chosen again
    });
    form.addEventListener("dragover", event => event.preventDefault());
    form.addEventListener("drop", event => {
        if (!event.dataTransfer.files.length) return;
        event.preventDefault();
        take_text(event.dataTransfer.files[0], changed);
    });
}

function download(name, bytes) {
    const link = make("a"), url = URL.createObjectURL(new Blob([bytes]));
    link.href = url;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
}
