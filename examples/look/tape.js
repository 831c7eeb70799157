// ---- what a node is called ------------------------------------------------------------------------------

function size_of(node) { return node.shape.reduce((a, b) => a * b, 1); }
function shape_text(node) { return node.shape.length ? "(" + node.shape.join(", ") + ")" : "scalar"; }
function last_part(name) { return name.slice(name.lastIndexOf(".") + 1); }

function op_text(node) { return node.op + (node.args ? " " + node.args : ""); }    // "scale by 0.1"

function node_title(node) {
    const what = node.op ? op_text(node) : node.kind;
    return node.name ? node.name + " \u2014 " + what : what;
}

function short_title(i) {
    const node = nodes[i], title = node.name || node.op || node.kind;
    return clipped((node.number >= 0 ? node.number + " " : "") + title, 40);
}

// "trf_blocks.0.ff.layers.2": trf_blocks.0, ff, layers.2
function layers_of(path) {
    const parts = [];
    for (const part of path.split("."))
        if (/^\d+$/.test(part) && parts.length) parts[parts.length - 1] += "." + part;
        else if (part) parts.push(part);
    return parts;
}

// ---- the tree: neighbours of one layer are a group ------------------------------------------------------

let nodes = [], count = 0, tree = group("");

function group(name) { return { name, children: [], open: false }; }

function build_tree() {
    const root = group("");
    root.depth = -1;
    root.key = "";
    root.open = true;
    let path = [root];
    nodes.forEach((node, i) => {
        const layers = layers_of(node.path);
        let same = 0;
        while (same < layers.length && same + 1 < path.length && path[same + 1].name === layers[same]) same++;
        path = path.slice(0, same + 1);
        for (let depth = same; depth < layers.length; depth++) {
            const g = group(layers[depth]);
            path[path.length - 1].children.push(g);
            path.push(g);
        }
        path[path.length - 1].children.push({ node: i, from: i, to: i + 1, children: [] });
    });
    dissolve(root);
    set_ranges(root);
    return root;
}

// A group of one node is replaced by the node.
function dissolve(part) {
    part.children.forEach(dissolve);
    const one = child => child.children.length === 1 && child.children[0].node !== undefined;
    part.children = part.children.map(child => one(child) ? child.children[0] : child);
}

// Sets ranges, depths, parents, and keys: the names from the root on, by which a part is found again in
// another tape.
function set_ranges(part) {
    if (part.node !== undefined) return;
    const same = new Map();
    part.children.forEach(child => {
        const name = child.name || nodes[child.node].name || nodes[child.node].op || nodes[child.node].kind;
        same.set(name, (same.get(name) || 0) + 1);
        child.key = `${part.key}/${name} ${same.get(name)}`;
        child.parent = part;
        child.depth = part.depth + 1;
        set_ranges(child);
    });
    part.from = part.children.length ? part.children[0].from : 0;
    part.to = part.children.length ? part.children[part.children.length - 1].to : 0;
}

function open_all(part, open) {
    part.children.forEach(child => {
        child.open = open;
        open_all(child, open);
    });
}

function all_parts(part) { return [part, ...part.children.flatMap(all_parts)]; }

// ---- state: what is computed so far, and what is chosen -------------------------------------------------
// done counts steps: up to count, how many nodes have their value, from the first on; past it, how many have
// their gradient, from the last one back.

let done = 0, chosen = null, rows = [];

function has_value(i) { return i < done; }
function has_grad(i) { return i >= 2 * count - done; }
function is_row(part) { return !part.open || part.node !== undefined; }        // it represents its nodes

function visible_rows() {
    const list = [];
    const add = part => part.children.forEach(child => {
        list.push(child);
        if (child.open) add(child);
    });
    add(tree);
    return list;
}

function row_of(i) { return rows.find(part => is_row(part) && part.from <= i && i < part.to); }

// ---- drawing the tape -----------------------------------------------------------------------------------

function cell_text(i, part, there, room) {
    if (!part) return "";
    if (!there) return "\u00b7";
    const list = size_of(nodes[i]) === 1 ? list_of(part) : null;
    return list ? fitted(list[0], room) : short(number_of(part.rms));
}

function draw_cell(className, i, part, there) {
    const cell = make("span", className, cell_text(i, part, there));
    if (part && there && size_of(nodes[i]) === 1) cell.title = exact(list_of(part)[0]);
    return cell;
}

function draw_label(row, part) {
    const node = part.node === undefined ? null : nodes[part.node], what = make("span", "what");
    what.style.paddingLeft = 14 * part.depth + "px";
    if (!node) {
        row.classList.add("group");
        what.textContent = (part.open ? "\u25be " : "\u25b8 ") + part.name;
        what.append(make("span", "number", "  (" + (part.to - part.from) + ")"));
    } else {
        const is_node = node.kind === "node", name = is_node ? node.name : last_part(node.name);
        if (is_node) what.append(make("span", "number", node.number + " "));
        if (name) what.append(make("b", "", clipped(name, 60)), "  ");
        what.append(make("span", name ? "number" : "", is_node ? op_text(node) : node.kind));
    }
    what.title = node ? node_title(node).slice(0, 300) : part.name.slice(0, 300);
    row.append(what);
}

function draw_row(part) {
    const row = make("div", "row"), last = part.to - 1, node = nodes[last];
    row.id = "row-" + rows.indexOf(part);
    row.setAttribute("role", "treeitem");
    row.setAttribute("aria-level", String(part.depth + 1));
    if (part.node === undefined) row.setAttribute("aria-expanded", String(part.open));
    row.setAttribute("aria-selected", String(part === chosen));
    if (part === chosen) row.classList.add("chosen");
    draw_label(row, part);
    const shown = is_row(part);
    if (shown) row.append(make("span", "shape", shape_text(node)),
        draw_cell("value", last, node.data, has_value(last)), draw_cell("grad", last, node.grad, has_grad(last)));
    row.addEventListener("click", event => {
        const again = part === chosen;
        choose(part);
        if (part.node !== undefined && event.detail === 2) show_view("node");
        if (part.node === undefined && (again || event.detail === 2 || !part.open)) toggle(part);
    });
    return row;
}

function phase_text() {
    if (data.error) return "This step has an error: " + data.error;
    if (done === 2 * count)
        return "The tape lists all that was computed, in order. To follow it: restart, then \u2193 for the " +
            "next value, and after the last one \u2191 for the next gradient.";
    if (done === count) return "Forward is done. \u2191 propagates the gradient back, node by node.";
    return done < count ? `Forward: ${done} of ${count} nodes have a value. \u2193 computes the next.`
        : `Backward: ${done - count} of ${count} nodes have a gradient. \u2191 continues.`;
}

function draw() {
    rows = visible_rows();
    by_id("rows").replaceChildren(...rows.map(draw_row));
    if (!by_id("left").classList.contains("scalars")) by_id("rows").append(make("div", "facts", about_rms));
    by_id("phase").textContent = phase_text();
    by_id("fold").textContent = rows.some(part => part.open) ? "fold" : "unfold";
    by_id("fold").hidden = !rows.some(part => part.node === undefined);
    draw_graph();
    draw_node();
    if (by_id("tab-node") && chosen)
        by_id("tab-node").textContent = "Node: " + (chosen.name || short_title(chosen.node));
    const box = by_id("tape"), row = by_id("row-" + rows.indexOf(chosen));
    if (!row) return;
    box.setAttribute("aria-activedescendant", row.id);
    if (row.offsetTop < box.scrollTop || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight)
        box.scrollTop = row.offsetTop + (row.offsetHeight - box.clientHeight) / 2;
}

function choose(part) {
    chosen = part;
    draw();
}

function toggle(part) {
    part.open = !part.open;
    draw();
}

// ---- stepping -------------------------------------------------------------------------------------------

function move(by) {
    const i = rows.indexOf(chosen) + by;
    if (i >= 0 && i < rows.length) choose(rows[i]);
}

function step_to(steps, row) {
    done = steps;
    choose(row);
}

// To the next (by: 1) or the previous place, where a row has just got its values or its gradients.
function step(by) {
    const shown = rows.filter(is_row), back = shown.map(part => 2 * count - part.from).reverse();
    const places = [0, ...shown.map(part => part.to), ...back];
    const place = by > 0 ? places.find(at => at > done) : places.findLast(at => at < done);
    if (place === undefined) return;
    step_to(place, row_of(place > count ? 2 * count - place : Math.max(place - 1, 0)));
}

function step_down() {
    if (done === 2 * count) move(1);
    else if (done !== count) step(done < count ? 1 : -1);
}

function step_up() {
    if (done === 2 * count) move(-1);
    else step(done < count ? -1 : 1);
}

function restart() { step_to(0, rows[0]); }
function finish() { step_to(2 * count, rows[rows.length - 1]); }
function next_backward() {              // the button always takes a step
    done = Math.max(done, count);
    step(1);
}
function next_forward() {
    if (done >= count) done = 0;
    step(1);
}

function open_or_enter(open) {
    if (chosen && chosen.node === undefined && chosen.open !== open) toggle(chosen);
    else if (!open && chosen && chosen.parent && chosen.parent !== tree) choose(chosen.parent);
}

const keys = {
    ArrowDown: step_down, ArrowUp: step_up, Home: restart, End: finish,
    ArrowRight: () => open_or_enter(true), ArrowLeft: () => open_or_enter(false),
    Enter: () => {
        if (chosen && chosen.node === undefined) toggle(chosen);
        else if (chosen) show_view("node");
    },
};

// ---- views: what is shown beside the tape, one behind each tab -------------------------------------------
// Other parts of the page add theirs: { id, title, has(): is there something to show, draw() }.

const views = [{ id: "node", title: "Node", has: () => true, draw }];
let view = null;

function in_tabs() { return views.filter(v => v.has() && by_id("right").contains(by_id(v.id))); }

function show_view(id) {
    view = id;
    by_id("graph").style.display = id === "node" ? "" : "none";
    for (const v of views) {
        by_id(v.id).hidden = !v.has() || (v.id !== id && in_tabs().includes(v));
        if (by_id("tab-" + v.id)) by_id("tab-" + v.id).setAttribute("aria-pressed", String(v.id === id));
    }
}

function draw_tabs() {
    by_id("tabs").replaceChildren(...in_tabs().map(v => {
        const button = make_button("", () => show_view(v.id), v.title);
        button.id = "tab-" + v.id;
        return button;
    }));
    by_id("tabs").hidden = in_tabs().length < 2;
}

// ---- the beginning --------------------------------------------------------------------------------------

// Shows a tape. The chosen row, the open groups and the place of stepping stay as in the previous tape.
function show(new_data) {
    const first = data === null, open = all_parts(tree).filter(part => part.open).map(part => part.key);
    const key = chosen && chosen.key, share = count ? done / (2 * count) : 1;
    data = new_data;
    nodes = data.nodes;
    count = nodes.length;
    done = Math.round(share * 2 * count);
    tree = build_tree();
    if (first) open_all(tree, count <= 45);
    else all_parts(tree).forEach(part => part.open = open.includes(part.key));
    rows = visible_rows();
    chosen = rows.find(part => part.key === key) || first_choice();
    const only_scalars = nodes.every(node => size_of(node) === 1);
    by_id("left").classList.toggle("scalars", only_scalars);
    by_id("value-head").textContent = only_scalars ? "value" : "rms value";
    by_id("grad-head").textContent = only_scalars ? "gradient" : "rms gradient";
    by_id("value-head").title = by_id("grad-head").title = only_scalars ? "" : about_rms;
    draw_tabs();
    show_view((in_tabs().find(v => v.id === view) || in_tabs()[in_tabs().length - 1]).id);
    draw_all();
}

// The input or parameter that is used most often: its gradient is a sum worth showing.
function first_choice() {
    const uses = part => part.node === undefined || nodes[part.node].op || !nodes[part.node].grad ? 0
        : nodes.filter(node => node.in.includes(part.node)).length;
    return rows.reduce((best, part) => uses(part) > uses(best) ? part : best, rows[rows.length - 1]) || null;
}

const about_rms = "rms: the root mean square, \u221a(mean of x\u00b2): how large the numbers of a row are. " +
    "A single number is shown as it is.";

function draw_all() { views.filter(v => v.has()).forEach(v => v.draw()); }

function fold() {
    open_all(tree, !rows.some(part => part.open));
    rows = visible_rows();
    chosen = rows.includes(chosen) ? chosen : rows[rows.length - 1];
    draw();
}

function on_key(event) {
    const key = keys[event.key], at = event.target.tagName, is_shown = by_id("tape").getClientRects().length;
    if (!key || !is_shown || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "TEXTAREA", "SELECT"].includes(at)) return;
    if (event.key === "Enter" && ["BUTTON", "SUMMARY", "A"].includes(at)) return;
    event.preventDefault();
    key();
}

function start_tape() {
    const buttons = { restart, down: next_forward, up: next_backward, all: finish, fold };
    for (const id in buttons) by_id(id).addEventListener("click", buttons[id]);
    document.addEventListener("keydown", on_key);
    addEventListener("resize", () => { if (data) draw(); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (data) draw_all(); });
}
