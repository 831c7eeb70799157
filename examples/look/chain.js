// ---- the chain rule in numbers: what adds up to a gradient ----------------------------------------------

function owner(i) { return nodes[i].view ? owner(nodes[i].in[0]) : i; }     // whose gradient a view shares

// What the nodes add to the gradient of node i, and of its views, which share this gradient.
function additions(i) {
    const list = [], is_same = j => j >= 0 && owner(j) === owner(i);
    nodes.forEach((y, by) => (y.adds || []).forEach((part, k) => {
        if (part && is_same(y.in[k]))
            list.push({ by, part, local: y.local && y.local[k], uses: y.in.filter(is_same).length });
    }));
    return list;
}

// Is the sum of the parts the gradient, as far as their cells are here?
function adds_up(node, list) {
    const gradient = list_of(node.grad), most = largest(gradient);
    const parts = list.map(line => list_of(line.part));
    if (parts.some(part => part.length !== gradient.length)) return true;
    const sum = cell => parts.reduce((total, part) => total + part[cell], 0);
    return gradient.every((v, cell) => !Number.isFinite(v) || Math.abs(sum(cell) - v) <= 1e-4 * most);
}

function size_text(part) {              // a single number itself, else the root mean square
    return part.rms === undefined ? fitted(list_of(part)[0]) : short(number_of(part.rms));
}

function draw_addition(table, line) {
    const row = table.insertRow();
    row.append(make("td", "", make("button", "", short_title(line.by)), line.uses > 1 ? " both uses, summed" : ""),
        make("td", "grad", size_text(nodes[line.by].grad)),
        make("td", "", line.local ? "\u00d7 " + size_text(line.local) : ""),
        make("td", "grad", "= " + size_text(line.part)));
    row.addEventListener("click", () => show_node(line.by));
}

function draw_additions(node, list) {
    const table = make("table", "chain"), head = table.insertRow(), rms = size_of(node) === 1 ? "" : "rms ";
    const local = list.some(line => line.local) ? "\u00d7 local derivative" : "";
    for (const text of ["used by", rms + "dy", local, `= ${rms}added`]) head.append(make("th", "", text));
    list.forEach(line => draw_addition(table, line));
    const sum = table.insertRow();
    sum.append(make("td", "", "sum: the gradient"), make("td"), make("td"),
        make("td", "grad", "= " + size_text(node.grad)));
    return table;
}

function draw_chain(box, i) {
    const node = nodes[i], list = additions(i), say = text => box.append(make("div", "facts", text));
    box.append(make("h3", "", "The chain rule: what adds up to this gradient"));
    if (!data.chain) say("Left out: the tape is so large that running each backward again takes too long.");
    if (owner(count - 1) === owner(i)) say("The backward begins here: d(loss)/d(loss) is 1.");
    if (!list.length) return;
    box.append(draw_additions(node, list));
    if (!adds_up(node, list))
        say("The gradient is more than this sum: gra_zero_grad was not called before this backward.");
    if (nodes.some((other, k) => k !== owner(i) && owner(k) === owner(i)))
        say("A view shares its input's gradient, and passes dy on unchanged: its users are also listed.");
    if (list.length < 2 || size_of(node) === 1) return;
    say("The elements add up; their root mean squares do not.");
    box.append(make("div", "pair", ...list.map(line =>
        make("div", "", make("h3", "", `added by ${short_title(line.by)}`), grid(line.part, node)))));
}
