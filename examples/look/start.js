// ---- the beginning of a page of one step -----------------------------------------------------------------

start_tape();
show(read_json(by_id("data").textContent));
by_id("title").textContent = data.title;
by_id("about").textContent = data.about;
