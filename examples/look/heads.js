// ---- a model: training, attention, predictions ----------------------------------------------------------

const model = { state: 0, layer: 0, head: 0, token: -1, at: [0, 0] };

// The nodes of the attention, one for each layer, and the layers' names as they are in the tape.
function attention_nodes() { return nodes.flatMap((node, i) => node.op === "attention" ? [i] : []); }
function layer_name(layer) {
    const node = nodes[attention_nodes()[layer]];
    return node && layers_of(node.path)[0] || "layer " + (layer + 1);
}
function head_name() { return `${layer_name(model.layer)}, head ${model.head + 1}`; }

// Decodes weights of 8 bits and divides each row by its sum, as rounding may make a row of many small weights
// sum to as much as 1.1.
function shares(bytes) {
    const w = new Float64Array(bytes.length);
    for (let from = 0, keys = 1; from < w.length; from += keys, keys = keys % data.seen + 1) {
        const row = bytes.subarray(from, from + keys), sum = row.reduce((a, b) => a + b, 0) || 1;
        row.forEach((byte, key) => w[from + key] = byte / sum);
    }
    return w;
}

// The weights of a state: a triangle for each layer and head, query by query, keys 0 ... query.
function weights_of(state) {
    if (!state.weights)
        state.weights = state.exact ? reals(state.attention) : shares(bytes_of(state.attention));
    return state.weights;
}

function weight(state, layer, head, query, key) {
    const triangle = data.seen * (data.seen + 1) / 2;
    return weights_of(state)[(layer * data.heads + head) * triangle + query * (query + 1) / 2 + key];
}

// From 0 to 1: from the page's colour to a darker one (in dark mode: a lighter one).
function weight_colour(w) {
    const dark = is_dark(), x = Math.sqrt(w);
    const zero = dark ? [30, 33, 38] : [250, 250, 250], end = dark ? [255, 190, 90] : [110, 15, 80];
    return zero.map((z, k) => Math.round(z + (end[k] - z) * x));
}

function paint_head(canvas, layer, head) {
    const n = data.seen, state = data.states[model.state], context = canvas.getContext("2d");
    const image = context.createImageData(n, n);
    canvas.width = canvas.height = n;
    for (let query = 0; query < n; query++)
        for (let key = 0; key <= query; key++)
            image.data.set([...weight_colour(weight(state, layer, head, query, key)), 255],
                4 * (query * n + key));
    context.putImageData(image, 0, 0);
}

// 0 to 1, in the colours of the weights.
function draw_scale() {
    const bar = make("span");
    const stops = [0, 0.05, 0.2, 0.4, 0.7, 1].map(w => `rgb(${weight_colour(w).join()}) ${100 * w}%`);
    bar.style.background = `linear-gradient(90deg, ${stops.join()})`;
    return make("div", "weights facts", "weight 0 ", bar, " 1");
}

function draw_heads() {
    const room = Math.floor(CURVE.wide / data.heads) - 4;
    const side = Math.min(room, clamp(Math.floor(290 / Math.max(data.heads, data.layers)), 36, 72));
    const box = make("div", "heads");
    box.style.gridTemplateColumns = `repeat(${data.heads}, ${side}px)`;
    for (let layer = 0; layer < data.layers; layer++) {
        box.append(make("span", "layer", layer_name(layer)));
        for (let head = 0; head < data.heads; head++) {
            const is_chosen = layer === model.layer && head === model.head;
            const canvas = make("canvas"), button = make_button("", () => {
                Object.assign(model, { layer, head });
                draw_state();
            }, canvas);
            canvas.style.width = canvas.style.height = side + "px";
            button.title = `${layer_name(layer)}, head ${head + 1}`;
            button.setAttribute("aria-label", button.title);
            button.setAttribute("aria-pressed", String(is_chosen));
            paint_head(canvas, layer, head);
            box.append(button);
        }
    }
    return box;
}

// A row of the large picture: the weights of one query, and its token on both axes.
function draw_query(svg, query, cell, edge) {
    const state = data.states[model.state], lit = query === model.token;
    const token = clipped(data.tokens[query], 12);
    const at = edge + query * cell, middle = at + cell / 2, width = edge + data.seen * cell;
    if (lit)
        svg.append(make_svg("rect", { x: 0, y: at, width, height: cell, fill: "var(--chosen)" }));
    // numbers where names do not fit
    const text = cell >= 9 || lit ? token : query % 8 === 0 ? String(query) : "";
    const upright = cell >= 9 && [...text].length === 1 ? "" : " rotate(-90)";
    svg.append(make_svg("text", { x: edge - 4, y: middle + 4, "text-anchor": "end" }, text),
        make_svg("text", { transform: `translate(${upright ? middle + 4 : middle} ${edge - 4})${upright}`,
            "text-anchor": upright ? "start" : "middle" }, text));
    for (let key = 0; key <= query; key++)
        svg.append(make_svg("rect", { x: edge + key * cell, y: at, width: cell - 1, height: cell - 1,
            fill: `rgb(${weight_colour(weight(state, model.layer, model.head, query, key)).join(",")})`,
            opacity: model.token < 0 || lit ? 1 : 0.35 }));
}

function point_at(query, key) {
    const state = data.states[model.state], named = i => `${data.tokens[i]} (${i})`;
    if (key > query) {
        light(query, `${named(query)} does not attend to ${named(key)}, which comes after it`);
        return;
    }
    const w = weight(state, model.layer, model.head, query, key);
    model.at = [query, key];
    light(query, `${named(query)} attends to ${named(key)}: ${state.exact ? exact(w) : w.toFixed(3)}`);
}

// The chosen head, large: a row for each query, a column for each key.
function draw_big_head() {
    const n = data.seen, longest = Math.max(...data.tokens.slice(0, n).map(token => [...token].length));
    const edge = longest === 1 ? 20 : clamp(7 * longest + 8, 34, 92);
    const cell = clamp(Math.floor(Math.min(330, CURVE.wide - edge) / n), 3, 26), side = edge + n * cell + 2;
    const svg = make_svg("svg", { id: "big", width: side, height: side });
    for (let query = 0; query < n; query++) draw_query(svg, query, cell, edge);
    svg.addEventListener("mousemove", event => {
        const box = svg.getBoundingClientRect();
        const query = Math.floor((event.clientY - box.top - edge) / cell);
        const key = Math.floor((event.clientX - box.left - edge) / cell);
        if (key >= 0 && key < n && query >= 0 && query < n) point_at(query, key);
    });
    svg.setAttribute("aria-label", `${head_name()}: ${n} x ${n} weights; arrow keys read them`);
    cell_keys(svg, model.at, n, n, (query, key) => point_at(query, Math.min(key, query)));
    return svg;
}

function light(token, text) {
    if (text !== undefined) model.text = text;
    if (model.token === token) {
        if (by_id("pointed")) by_id("pointed").textContent = model.text || "";
        return;
    }
    model.token = token;
    draw_state();
}

function draw_token_strip() {
    return make("div", "tokens", ...data.tokens.map((token, i) => {
        const button = make("button", i === model.token ? "token lit" : "token", token);
        for (const event of ["mouseenter", "focus"]) button.addEventListener(event, () => light(i, ""));
        return button;
    }));
}

function draw_predictions() {
    const table = make("table", "next");
    table.insertRow().append(...["after", "next is", "probability", "predictions"].map(text => make("th", "", text)));
    data.states[model.state].next.forEach((row, i) => {
        const line = table.insertRow(), guesses = row.slice(0, -1), follows = row[row.length - 1];
        line.className = i === model.token ? "lit" : "";
        line.addEventListener("mouseenter", () => light(i, ""));
        line.append(make("td", "", data.tokens[i]), make("td", "", follows ? follows[0] : "?"),
            make("td", "", follows ? exact(number_of(follows[1])) : ""),
            make("td", "", ...guesses.flatMap(([token, p]) => [make("span", follows && token === follows[0]
                ? "right" : "", `${token} ${percent(number_of(p))}`), "\u2002"])));
    });
    return table;
}

// ---- the view --------------------------------------------------------------------------------------------

function after_text(state) {
    if (state.step < 0) return "";
    const last = last_step();
    return state.step === last ? `after all ${last} steps: ` : `after ${state.step} of ${last} steps: `;
}

function draw_attention() {
    const node = attention_nodes()[model.layer], pointed = make("div", "under", model.text || "point at a cell");
    pointed.id = "pointed";
    pointed.setAttribute("aria-live", "polite");
    const left = make("div", "", make("h3", "", "Attention: choose a head"),
        make("p", "facts", "A head lets each position read from those before it."), draw_scale(), draw_heads());
    const right = make("div", "", make("h3", "", head_name() + ": each row attends to the columns"),
        node === undefined ? "" : links("computed by", [node], "none", ""), draw_big_head(), pointed);
    if (data.seen < data.tokens.length)
        right.append(make("div", "facts", `only the first ${data.seen} of ${data.tokens.length} tokens`));
    return make("div", "pair", left, right);
}

function draw_state() { redraw(by_id("state"), draw_state_now); }

// Redraws what depends on the state, but not the slider, so that it can be dragged.
function draw_state_now() {
    const box = by_id("state"), state = data.states[model.state];
    if (by_id("curve")) draw_curve();
    box.replaceChildren(make("div", "facts", `${after_text(state)}loss of these tokens `,
        make("code", "", exact(number_of(state.loss)))));
    if (!state.exact)
        box.append(make("div", "plain", "The tape is still the finished model's: the page has no gradients " +
            "of earlier steps. The attention here is rounded to 8 bits."));
    box.append(draw_token_strip(), draw_attention(),
        make("h3", "", "Predictions: what follows each token, and the five likeliest by the model"),
        draw_predictions());
}

// Shows the last state; or, if an earlier state was chosen in the previous data, the state nearest to that.
function draw_model() {
    const box = by_id("model"), state = make("div");
    if (model.shown !== data) {
        const before = model.shown ? model.shown.states : [], last = data.states[data.states.length - 1];
        const kept = model.state + 1 < before.length ? before[model.state] : last;
        model.state = data.states.indexOf(nearest(data.states, state => state.step, kept.step));
        model.shown = data;
    }
    model.layer = Math.min(model.layer, data.layers - 1);
    model.head = Math.min(model.head, data.heads - 1);
    model.token = Math.min(model.token, data.tokens.length - 1);
    box.replaceChildren(state);
    state.id = "state";
    draw_training(box);
    if (data.sample)
        state.before(make("h3", "", "What the trained model writes"), make("pre", "sample", data.sample));
    fit_training();
}

const has_model = () => data && data.states && data.states.length > 0;
views.push({ id: "model", title: "Attention and predictions", has: has_model, draw: draw_model,
    link: link_heads });

// From a node of attention to its heads.
function link_heads(box, i) {
    const layer = attention_nodes().indexOf(i);
    if (layer >= 0) box.append(make_button("", () => {
        model.layer = layer;
        draw_state();
        show_view("model");
    }, "its heads"));
}
addEventListener("resize", () => { if (has_model()) fit_training(); });
