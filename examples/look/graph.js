// ---- a picture of the rows: boxes from the inputs down to the result --------------------------------------
// A box is a node, or a group that is not open: its name, value and gradient. Boxes that the steps forward
// and back have reached are lit.

const GRAPH = { wide: 104, high: 42, gap: 12, down: 24, most: 150 };

// For each box: the boxes that it reads, and its level, which is below all of these; an input is just above
// its first reader.
function graph_boxes() {
    const shown = rows.filter(is_row), box_of = Array(count);
    const boxes = shown.map(part => ({ part, from: [], level: 0 }));
    boxes.forEach(box => box_of.fill(box, box.part.from, box.part.to));
    nodes.forEach((node, i) => node.in.forEach(k => {
        const from = k >= 0 && box_of[k], to = box_of[i];
        if (from && to && from !== to && !to.from.includes(from)) to.from.push(from);
    }));
    for (const box of boxes) box.level = Math.max(0, ...box.from.map(other => other.level + 1));
    for (const box of boxes.filter(one => !one.from.length)) {
        const readers = boxes.filter(to => to.from.includes(box)).map(to => to.level);
        box.level = Math.max(0, Math.min(...readers, Infinity) - 1);
    }
    return boxes;
}

// On each level, boxes are in the order of the middles of the boxes that they read.
function place_boxes(boxes, room) {
    const levels = [];
    for (const box of boxes) (levels[box.level] ||= []).push(box);
    const middle = box => box.from.reduce((sum, other) => sum + other.x, 0) / box.from.length;
    levels.forEach((level, i) => {
        if (level.every(box => box.from.length)) level.sort((a, b) => middle(a) - middle(b));
        const step = GRAPH.wide + GRAPH.gap;
        level.forEach((box, k) => {
            box.x = room / 2 + (k - (level.length - 1) / 2) * step;
            box.y = 2 + i * (GRAPH.high + GRAPH.down);
        });
    });
    return levels.length * (GRAPH.high + GRAPH.down) - GRAPH.down + 4;
}

function draw_box(svg, { part, x, y }) {
    const i = part.to - 1, node = nodes[i], { wide, high } = GRAPH, left = x - wide / 2;
    const state = has_grad(i) && node.grad ? "has_grad" : has_value(i) ? "has_value" : "";
    const box = make_svg("g", { class: `box ${state} ${part === chosen ? "chosen" : ""}` });
    const names = [node.name, node.op ? op_text(node) : ""].filter(Boolean);
    const title = part.name || names.join(" = ") || node.kind;
    const write = (dx, dy, anchor, text, name) =>
        box.append(make_svg("text", { x: dx, y: dy, "text-anchor": anchor, class: name }, text));
    box.append(make_svg("title", {}, title),
        make_svg("rect", { x: left, y, width: wide, height: high, rx: 6 }));
    write(x, y + 16, "middle", clipped(title, 14), "title");
    write(left + 5, y + 34, "start", cell_text(i, node.data, has_value(i), 7), "value");
    write(left + wide - 5, y + 34, "end", cell_text(i, node.grad, has_grad(i), 7), "grad");
    box.addEventListener("click", () => {
        if (part.node === undefined && part === chosen) toggle(part);
        else choose(part);
    });
    svg.append(box);
}

function draw_graph() {
    const frame = by_id("graph"), boxes = graph_boxes();
    frame.hidden = boxes.length < 2 || boxes.length > GRAPH.most;
    if (frame.hidden) return;
    const most = Math.max(...boxes.map(box => boxes.filter(other => other.level === box.level).length));
    const needs = most * (GRAPH.wide + GRAPH.gap), all = Math.max(220, by_id("right").clientWidth - 40);
    const room = needs, high = place_boxes(boxes, room);
    const svg = make_svg("svg", { width: room, height: high, "aria-hidden": true });
    frame.style.float = needs < 0.55 * all ? "right" : "none";          // beside the node, or above it
    for (const to of boxes)
        for (const from of to.from) {
            const a = from.y + GRAPH.high, b = to.y, half = (a + b) / 2;
            const d = `M${from.x} ${a}C${from.x} ${half} ${to.x} ${half} ${to.x} ${b}`;
            const kind = to.part === chosen ? "in" : from.part === chosen ? "out" : "";
            svg.append(make_svg("path", { class: kind, d }));
        }
    for (const box of boxes) draw_box(svg, box);
    frame.replaceChildren(svg);
}
