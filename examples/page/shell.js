// ---- the page: its screens, one of which is shown; each starts when it is first shown -------------------
// A screen is { start(), show(), hide() }: "expression" and "training" have a part of the page of their own;
// "broken" is the training screen with another panel of controls; "guide" is a strip above the others.

const screens = { expression: expression_screen, training: training_screen, broken: broken_screen,
    guide: guide_screen };
const started = new Set();
let current_screen = "";

function show_screen(name) {
    if (current_screen === name) return;
    if (current_screen) screens[current_screen].hide();
    current_screen = name;
    document.body.dataset.screen = name;
    for (const button of document.querySelectorAll("#screens button"))
        button.setAttribute("aria-pressed", String(button.dataset.screen === name));
    if (!started.has(name)) {
        started.add(name);
        screens[name].start();
    }
    screens[name].show();
}

function say_status(text) { by_id("status").textContent = text; }

function module_bytes(id) { return bytes_of(by_id(id).textContent.replace(/\s/g, "")); }

function start_page() {
    for (const button of document.querySelectorAll("#screens button"))
        button.addEventListener("click", () => {
            show_screen(button.dataset.screen);
            history.replaceState(null, "", "#" + button.dataset.screen);
        });
    start_tape();
    show_screen(Object.hasOwn(screens, location.hash.slice(1)) ? location.hash.slice(1) : "training");
}

start_page();
