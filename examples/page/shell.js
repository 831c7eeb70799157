// ---- the page: its screens, one of which is shown; each starts when it is first shown -------------------
// A screen is { start(), show(), hide() }: called before it is first shown, whenever it is shown, and when it
// is shown no longer. The guided path is a strip above the screens, which it sets up.

const screens = { expression: expression_screen, training: training_screen, broken: broken_screen };
const started = new Set();
let current_screen = "";

function show_screen(name) {
    if (current_screen === name) return;
    screens[current_screen]?.hide();
    current_screen = name;
    document.body.dataset.screen = name;
    by_id("inspect").hidden = name === "broken";
    for (const button of document.querySelectorAll("#screens [data-screen]"))
        button.setAttribute("aria-pressed", String(button.dataset.screen === name));
    if (!started.has(name)) {
        started.add(name);
        screens[name].start();
    }
    for (const other in screens) by_id(other).hidden = other !== name;
    screens[name].show();
}

// Without the guided path.
function show_alone(name) {
    show_guide(false);
    show_screen(name);
    keep_state();
}

function module_bytes(id) { return bytes_of(by_id(id).textContent.replace(/\s/g, "")); }

// ---- the address: #screen?name=value&..., all that a visitor has set ------------------------------------

const fields = ["run_form", "write"].flatMap(id => [...by_id(id).elements]).filter(field => field.name);
const value_of = field => field.type === "checkbox" ? String(field.checked) : field.value;
const at_first = new Map(fields.map(field => [field, value_of(field)]));
let keeps = 0;

function state_text() {
    const state = new URLSearchParams(), text = by_id("run_text").value;
    for (const field of fields)
        if (value_of(field) !== at_first.get(field)) state.set(field.name, value_of(field));
    if (text !== by_id("run_text").defaultValue && !file_text && text.length < 5000) state.set("text", text);
    if (training.prompt_typed) state.set("prompt", by_id("prompt_text").value);
    if (typed.names) {
        state.set("y", by_id("typed_text").value);
        state.set("at", typed.names.map(name => `${name}:${typed.values[name]}`).join());
        if (typed.slip >= 0) state.set("slip", typed.slip);
    }
    if (experiment.chosen) state.set("break", experiment.chosen.name);
    if (!by_id("guide").hidden) state.set("station", station + 1);
    return `#${by_id("guide").hidden ? current_screen : "guide"}?${state}`;
}

function keep_state() {
    clearTimeout(keeps);
    keeps = setTimeout(() => history.replaceState(null, "", state_text()), 200);
}

function restore_fields(state) {
    for (const field of fields.filter(one => state.has(one.name)))
        if (field.type === "checkbox") field.checked = state.get(field.name) === "true";
        else field.value = state.get(field.name);
    if (state.has("text")) by_id("run_text").value = state.get("text");
    training.prompt_typed = state.has("prompt");
    if (state.has("prompt")) by_id("prompt_text").value = state.get("prompt");
}

// Called after a station has set the expression.
function restore_expression(state) {
    if (!state.has("y")) return;
    const values = (state.get("at") || "").split(",").map(part => part.split(":"));
    by_id("typed_text").value = state.get("y");
    for (const [name, value] of values) typed.values[name] = Number(value) || 0;
    typed.slip = Number(state.get("slip") ?? -1);
    if (current_screen === "expression") compute_soon();
}

function start_page() {
    const [asked, rest] = location.hash.slice(1).split("?"), state = new URLSearchParams(rest);
    for (const button of document.querySelectorAll("#screens [data-screen]"))
        button.addEventListener("click", () => show_alone(button.dataset.screen));
    by_id("path").addEventListener("click", () => show_guide(by_id("guide").hidden));
    addEventListener("hashchange", () => location.reload());            // an address that was typed
    start_tape();
    restore_fields(state);
    station = clamp(Math.trunc(state.get("station")) - 1, 0, stations.length - 1) || 0;
    if (Object.hasOwn(screens, asked)) show_alone(asked);
    else show_guide(true);
    document.body.classList.toggle("new", !location.hash);
    restore_expression(state);
    if (asked === "broken" && state.has("break")) set_broken(state.get("break"));
}

start_page();
