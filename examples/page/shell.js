// ---- the page: its screens, one of which is shown; each starts when it is first shown -------------------
// A screen is { start(), show(), hide() }. The guided path is a strip above them, which sets them up.

const screens = { expression: expression_screen, training: training_screen, broken: broken_screen };
const started = new Set();
let current_screen = "";

function show_screen(name) {
    if (current_screen === name) return;
    if (current_screen) screens[current_screen].hide();
    current_screen = name;
    document.body.dataset.screen = name;
    by_id("inspect").hidden = name === "broken";
    for (const button of document.querySelectorAll("#screens [data-screen]"))
        button.setAttribute("aria-pressed", String(button.dataset.screen === name));
    if (!started.has(name)) {
        started.add(name);
        screens[name].start();
    }
    screens[name].show();
}

function say_status(text) {
    by_id("status").textContent = text || "New here? The guided path leads through it, station by station.";
}

function module_bytes(id) { return bytes_of(by_id(id).textContent.replace(/\s/g, "")); }

function set_hash(name) { history.replaceState(null, "", "#" + name); }

function start_page() {
    const asked = location.hash.slice(1);
    for (const button of document.querySelectorAll("#screens [data-screen]"))
        button.addEventListener("click", () => {
            show_guide(false);
            show_screen(button.dataset.screen);
            set_hash(button.dataset.screen);
        });
    by_id("path").addEventListener("click", () => show_guide(by_id("guide").hidden));
    start_tape();
    if (asked === "guide") show_guide(true);
    else show_screen(Object.hasOwn(screens, asked) ? asked : "training");
}

start_page();
