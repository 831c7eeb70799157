// The beginning of every driver: tests/programs/look.sh puts it, and one of the drivers in this folder,
// at the end of a page. A driver calls drive(), and its findings go to the page's <pre id="seen">, one line each:
// WHAT VALUE.
document.currentScript.remove();
const seen = [];
addEventListener("error", event => seen.push("error " + event.message));
const say = (what, text) => seen.push(what + " " + text);
const press = (key, n = 1) => {
    for (; n > 0; n--) document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
};
const lines = () => [...document.querySelectorAll("#rows .row")];
const label = row => row.querySelector(".what").textContent.replace(/\s+/g, " ");
const cell = (name, column) =>
    lines().find(row => label(row).includes(name)).querySelector(column).textContent;
const table = () => [...document.querySelectorAll("table.chain tr")].map(row => row.textContent);
// Reports how many gradients there are, and how many are not the sum of what the nodes add to them.
const chain = () => {
    const all = data.nodes, of = i => all[i].view ? of(all[i].in[0]) : i;
    const close = (a, b, most) => Math.abs(a - b) <= 1e-5 * most;
    let wrong = 0, compared = 0;
    all.forEach((x, i) => {
        const parts = all.flatMap(y => (y.adds || []).filter((part, k) => part && of(y.in[k]) === of(i)));
        if (!x.grad || i === all.length - 1) return;
        const lists = parts.map(part => reals(part.x)), sums = reals(x.grad.x);
        const most = Math.max(...sums.map(Math.abs));
        const whole = lists.every(list => list.length === sums.length);
        compared += parts.length > 1 && whole ? 1 : 0;
        wrong += parts.length > 1 && !whole ? 0 : whole
            ? sums.every((v, c) => close(lists.reduce((sum, list) => sum + list[c], 0), v, most)) ? 0 : 1
            : close(parts[0].rms, x.grad.rms, x.grad.rms) ? 0 : 1;
    });
    say("wrong", wrong);
    say("compared", compared);
};
const drive = steps => setTimeout(async () => {
    try { await steps(); } catch (why) { say("error", why); }
    const pre = document.createElement("pre");
    pre.id = "seen";
    pre.textContent = "\n" + seen.join("\n") + "\nend\n";
    document.body.append(pre);
}, 0);
