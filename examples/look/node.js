// ---- a node: formula, numbers, histogram ----------------------------------------------------------------

// Buttons that lead to other nodes, with the value or the gradient (dy) of a scalar.
function links(heading, list, part, sign) {
    return make("div", "links facts", heading + " ", list.length ? "" : "none", ...list.map(i => {
        const node = nodes[i], there = part === "data" ? has_value(i) : has_grad(i);
        const number = size_of(node) === 1 && node[part] && there ? sign + exact(list_of(node[part])[0]) : "";
        return make_button("", () => show_node(i), short_title(i) + number);
    }));
}

function show_node(i) {
    for (let part = tree; part.node === undefined;) {
        part.open = true;
        part = part.children.find(child => child.from <= i && i < child.to);
        if (part.node !== undefined) {
            rows = visible_rows();
            choose(part);
            show_view("node");
            by_id("tape").focus({ preventScroll: true });
        }
    }
}

function picked(i, shown, of) { return Math.floor(i * of / shown); }         // as in values.c

function heat_map(part, node) {
    const canvas = make("canvas"), under = make("div", "under", "point at a cell");
    const list = list_of(part), most = largest(list);
    canvas.width = part.c;
    canvas.height = part.r;
    const image = canvas.getContext("2d").createImageData(part.c, part.r);
    list.forEach((v, i) => image.data.set([...colour(v, most), 255], 4 * i));
    canvas.getContext("2d").putImageData(image, 0, 0);
    const wide = clamp(Math.floor(345 / part.c), 2, 16);
    const high = clamp(Math.floor(260 / part.r), part.r === 1 ? 16 : 2, 16);
    canvas.style.width = part.c * wide + "px";
    canvas.style.height = part.r * high + "px";
    const point = (r, c) => {
        const place = index_text(node, picked(r, part.r, part.rows), picked(c, part.c, part.columns));
        under.textContent = place + " = " + exact(list[r * part.c + c]);
    };
    canvas.addEventListener("mousemove", event => {
        const at = canvas.getBoundingClientRect();
        point(clamp(Math.floor((event.clientY - at.top) / at.height * part.r), 0, part.r - 1),
            clamp(Math.floor((event.clientX - at.left) / at.width * part.c), 0, part.c - 1));
    });
    cell_keys(canvas, [0, 0], part.r, part.c, point);
    canvas.setAttribute("aria-label", `${part.r} x ${part.c} numbers; arrow keys read them`);
    under.setAttribute("aria-live", "polite");
    return make("div", "", canvas, under, is_whole(part) ? "" : make("div", "facts",
        `sampled: ${part.r} of ${part.rows} rows, ${part.c} of ${part.columns} columns`));
}

// The index of a cell in the tensor: the grid has a row for each row of the last dimension.
function index_text(node, row, column) {
    const index = [column];
    for (let d = node.shape.length - 2; d >= 0; d--) {
        index.unshift(row % node.shape[d]);
        row = Math.floor(row / node.shape[d]);
    }
    return "[" + index.join(", ") + "]";
}

function number_table(part) {
    const table = make("table", "numbers"), list = list_of(part), most = largest(list);
    for (let r = 0; r < part.r; r++) {
        const row = table.insertRow();
        for (let c = 0; c < part.c; c++) {
            const cell = row.insertCell(), v = list[r * part.c + c], [red, green, blue] = colour(v, most);
            cell.textContent = fitted(v, part.c > 4 ? 8 : 12);
            cell.title = exact(v);
            cell.style.backgroundColor = `rgba(${red}, ${green}, ${blue}, .45)`;
        }
    }
    return table;
}

function histogram(part) {
    const wide = 300, high = 56, svg = make_svg("svg", { class: "bars", width: wide, height: high + 16 });
    const most = Math.max(...part.bins), w = wide / part.bins.length;
    part.bins.forEach((n, i) => {
        const h = n ? Math.max(1, high * n / most) : 0;
        const bar = make_svg("rect", { x: i * w, y: high - h, width: w - 1, height: h });
        bar.append(make_svg("title", {}, n + " values"));
        svg.append(bar);
    });
    svg.append(make_svg("text", { x: 0, y: high + 13 }, short(part.min)),
        make_svg("text", { x: wide, y: high + 13, "text-anchor": "end" }, short(part.max)));
    return svg;
}

function facts_of(part, node) {
    const facts = [`rms ${short(number_of(part.rms))}`];
    if (part.mean !== undefined) facts.push(`mean ${short(part.mean)}`);
    facts.push(`zeros ${percent(part.zeros / size_of(node))}`);
    if (part.strange) facts.push(`nan or infinite: ${part.strange}`);
    return facts.join(", ");
}

function is_whole(part) { return part.r === part.rows && part.c === part.columns; }

function grid(part, node) {
    const small = is_whole(part) && part.r * part.c <= 64 && part.c <= 8;
    return small ? number_table(part) : heat_map(part, node);
}

function numbers(title, className, part, node, there, missing) {
    const box = make("div", className, make("h3", className, title));
    if (!part || !there) box.append(make("div", "facts", part ? "not computed yet" : missing));
    else if (size_of(node) === 0) box.append(make("div", "facts", "no values"));
    else if (size_of(node) === 1) box.append(make("div", "big", exact(list_of(part)[0])));
    else {
        box.append(grid(part, node));
        box.append(make("div", "facts", facts_of(part, node)));
        if (part.bins) box.append(histogram(part));
    }
    return box;
}

function why_no_grad(node) {
    const { data: result } = nodes[count - 1], number = size_of(nodes[count - 1]) === 1 ? list_of(result)[0] : 0;
    if (!Number.isFinite(number)) return `none: ${result_name()} is ${exact(number)}, which has no slope`;
    if (!node.requires_grad) return "none: nothing that it depends on requires one";
    return "none: the loss does not depend on it, or it was not kept (call gra_keep_grads before the " +
        "backward)";
}

// Joins the lines of a paragraph; formulas, which are indented, stay as they are.
function reflow(text) {
    return text.trim().replace(/^(\S.*)\n(?=\S)/gm, "$1 ");
}

function draw_formula(box, node) {
    const op = Object.hasOwn(data.ops, node.op) ? data.ops[node.op] : null;
    if (op) box.append(make("pre", "", reflow(op.text)), make("div", "facts", "source: " + op.file));
    else if (node.op)
        box.append(make("div", "facts", "an op of this program; see its source for the formula"));
}

function draw_node() {
    const box = by_id("node");
    box.replaceChildren();
    if (!chosen) return;
    const i = chosen.to - 1, node = nodes[i];
    if (chosen.node === undefined)
        box.append(make("h2", "", chosen.name),
            make("div", "facts", `${chosen.to - chosen.from} nodes; \u2192 opens it. Its output:`));
    box.append(make("h2", "", (node.number >= 0 ? node.number + "  " : "") + node_title(node)));
    const place = node.path ? " of " + node.path : "";
    const view = node.view ? ", a view: it shares its input's data and gradient" : "";
    const shape = node.shape.length ? `shape ${shape_text(node)}, ${size_of(node)} values` : "one number";
    box.append(make("div", "facts", `${node.op ? "result" : node.kind}${place}, ${shape}${view}`));
    draw_formula(box, node);
    if (node.op) box.append(links("made from", node.in.filter(k => k >= 0), "data", " = "));
    const users = nodes.map((other, k) => other.in.includes(i) ? k : -1).filter(k => k >= 0);
    box.append(links("used by", users, "grad", ", dy = "));
    views.forEach(v => { if (v.has() && v.link) v.link(box, i); });
    const gradient = `gradient: how ${result_name()} changes with ${node.shape.length ? "each value" : "it"}`;
    box.append(make("div", "pair", numbers("value", "value", node.data, node, has_value(i), ""),
        numbers(gradient, "grad", node.grad, node, has_grad(i), why_no_grad(node))));
    if (node.grad && has_grad(i)) draw_chain(box, i);
}

// The name of the last node, of which the gradients are: "loss", or "g" if it is "g = e/2".
function result_name() { return nodes[count - 1].name.split(" = ")[0] || "the last node"; }
