// ---- a model: training, attention, predictions ----------------------------------------------------------

const model = { state: 0, layer: 0, head: 0, token: -1 };

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

function draw_heads() {
    const side = clamp(Math.floor(290 / Math.max(data.heads, data.layers)), 36, 72);
    const box = make("div", "heads");
    box.style.gridTemplateColumns = `auto repeat(${data.heads}, ${side}px)`;
    box.append(make("span"));
    for (let head = 0; head < data.heads; head++) box.append(make("span", "", "head " + (head + 1)));
    for (let layer = 0; layer < data.layers; layer++) {
        box.append(make("span", "", "layer " + (layer + 1)));
        for (let head = 0; head < data.heads; head++) {
            const is_chosen = layer === model.layer && head === model.head;
            const button = make("button"), canvas = make("canvas");
            canvas.style.width = canvas.style.height = side + "px";
            button.title = `layer ${layer + 1}, head ${head + 1}`;
            button.setAttribute("aria-label", button.title);
            button.setAttribute("aria-pressed", String(is_chosen));
            button.addEventListener("click", () => {
                model.layer = layer;
                model.head = head;
                draw_state();
                document.querySelector(".heads button[aria-pressed=true]").focus();
            });
            paint_head(canvas, layer, head);
            button.append(canvas);
            box.append(button);
        }
    }
    return box;
}

// A row of the large picture: the weights of one query, and its token on both axes.
function draw_query(svg, query, cell, edge) {
    const state = data.states[model.state], lit = query === model.token, token = data.tokens[query];
    const at = edge + query * cell, middle = at + 0.75 * cell, width = edge + data.seen * cell;
    const name = { x: edge - 4, y: middle, "text-anchor": "end" };
    if (lit)
        svg.append(make_svg("rect", { x: 0, y: at, width, height: cell, fill: "var(--chosen)" }));
    // numbers where names do not fit
    const text = cell >= 9 || lit ? token : query % 8 === 0 ? String(query) : "";
    svg.append(make_svg("text", name, text),
        make_svg("text", { transform: `translate(${middle} ${edge - 4}) rotate(-90)` }, text));
    for (let key = 0; key <= query; key++) {
        const w = weight(state, model.layer, model.head, query, key);
        const shown = state.exact ? exact(w) : w.toFixed(3);
        const rect = make_svg("rect", { x: edge + key * cell, y: at, width: cell - 1, height: cell - 1,
            fill: `rgb(${weight_colour(w).join(",")})`, opacity: model.token < 0 || lit ? 1 : 0.35 });
        rect.addEventListener("mouseenter",
            () => light(query, `${token} (${query}) attends to ${data.tokens[key]} (${key}): ${shown}`));
        svg.append(rect);
    }
}

// The chosen head, large: a row for each query, a column for each key.
function draw_big_head() {
    const n = data.seen, cell = clamp(Math.floor(330 / n), 5, 26), edge = 34, side = edge + n * cell + 2;
    const svg = make_svg("svg", { id: "big", width: side, height: side });
    for (let query = 0; query < n; query++) draw_query(svg, query, cell, edge);
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
    const strip = make("div", "tokens");
    data.tokens.forEach((token, i) => {
        const span = make("span", i === model.token ? "token lit" : "token", token);
        span.addEventListener("mouseenter", () => light(i, ""));
        strip.append(span);
    });
    return strip;
}

function draw_predictions() {
    const table = make("table", "next"), head = table.insertRow();
    for (const text of ["after", "next is", "probability", "predictions"])
        head.append(make("th", "", text));
    data.states[model.state].next.forEach((row, i) => {
        const line = table.insertRow(), guesses = row.slice(0, -1), follows = row[row.length - 1];
        line.className = i === model.token ? "lit" : "";
        line.addEventListener("mouseenter", () => light(i, ""));
        line.insertCell().textContent = data.tokens[i];
        line.insertCell().textContent = follows ? follows[0] : "?";
        line.insertCell().textContent = follows ? exact(number_of(follows[1])) : "";
        const cell = line.insertCell();
        guesses.forEach(([token, p]) => {
            const right = follows && token === follows[0];
            const guess = make("span", right ? "right" : "", `${token} ${percent(number_of(p))}`);
            cell.append(guess, "\u2002");
        });
    });
    return table;
}

// ---- the view --------------------------------------------------------------------------------------------

function after_text(state) {
    if (state.step < 0) return "";
    const last = steps_of_run().last;
    return state.step === last ? `after all ${last} steps: ` : `after ${state.step} of ${last} steps: `;
}

// Redraws what depends on the state, but not the slider, so that it can be dragged.
function draw_state() {
    const box = by_id("state"), state = data.states[model.state];
    if (by_id("curve")) by_id("curve").replaceWith(draw_curve());
    box.replaceChildren();
    box.append(make("div", "facts", `${after_text(state)}loss of these tokens `), draw_token_strip());
    box.firstChild.append(make("code", "", exact(number_of(state.loss))),
        state.exact ? "" : " (attention: rounded to 8 bits; the tape is the finished model's)");
    const pair = make("div", "pair"), left = make("div"), right = make("div");
    left.append(make("h3", "", "Attention: choose a head"), draw_heads());
    const heading = `Layer ${model.layer + 1}, head ${model.head + 1}: each row attends to the columns`;
    right.append(make("h3", "", heading), draw_big_head());
    const pointed = make("div", "under", model.text || "point at a cell");
    pointed.id = "pointed";
    right.append(pointed);
    if (data.seen < data.tokens.length)
        right.append(make("div", "facts", `only the first ${data.seen} of ${data.tokens.length} tokens`));
    pair.append(left, right);
    box.append(pair,
        make("h3", "", "Predictions: what follows each token, and the five likeliest by the model"),
        draw_predictions());
}

// Shows the last state, or, if another one of the data before was chosen, the one nearest to it.
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
    fit_training();
}

const has_model = () => data && data.states && data.states.length > 0;
views.push({ id: "model", title: "Attention and predictions", has: has_model, draw: draw_model });
addEventListener("resize", () => { if (has_model()) fit_training(); });
