// ---- the beginning --------------------------------------------------------------------------------------

for (const [id, f] of [["restart", restart], ["down", next_forward], ["up", next_backward], ["all", finish]])
    by_id(id).addEventListener("click", f);
by_id("fold").addEventListener("click", () => {
    open_all(tree, !rows.some(part => part.open));
    rows = visible_rows();
    chosen = rows.includes(chosen) ? chosen : rows[rows.length - 1];
    draw();
});
by_id("title").textContent = data.title;
by_id("about").textContent = data.about;
const only_scalars = nodes.every(node => size_of(node) === 1);
by_id("left").classList.toggle("scalars", only_scalars);
by_id("value-head").textContent = only_scalars ? "value" : "rms value";
by_id("grad-head").textContent = only_scalars ? "gradient" : "rms gradient";
draw_tabs();
rows = visible_rows();
chosen = rows[rows.length - 1] || null;
draw();
if (views.length > 1) draw_model();
show_view(views[views.length - 1][0]);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    draw();
    if (views.length > 1) draw_state();
});
