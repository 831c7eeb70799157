// A step of a model: its states over time, its heads, and the tape beside them.
drive(() => {
    const slider = document.getElementById("slider"),
          before = document.querySelector("#state code").textContent;
    say("loss", before);
    say("rows", lines().length);
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
    say("first", document.querySelector("#state").textContent.includes("after 0 of ") ? 1 : 0);
    say("moved", document.querySelector("#state code").textContent === before ? 0 : 1);
    slider.value = slider.max;
    slider.dispatchEvent(new Event("input"));
    say("back", document.querySelector("#state code").textContent);
    const steps = data.states.map(state => state.step), last = steps.length - 1, knob = () => {
        const line = document.querySelector("#curve .at").getBoundingClientRect(),
              box = slider.getBoundingClientRect();
        return Math.abs(line.x - box.x - 8 - (box.width - 16) * (slider.value - slider.min) /
                        (slider.max - slider.min));
    };
    slider.value = 0.7 * steps[last - 2] + 0.3 * steps[last - 1];
    slider.dispatchEvent(new Event("input"));
    say("stands", slider.value === String(steps[last - 2]) && knob() < 1 ? 1 : 0);
    slider.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    const after = `after ${steps[last - 1]} of ${steps[last]} steps`;
    say("key", document.querySelector("#state").textContent.includes(after) && knob() < 1 ? 1 : 0);
    const curve = document.querySelector("#curve svg"), edge = curve.getBoundingClientRect().x;
    curve.dispatchEvent(new MouseEvent("click", { clientX: edge + 31 }));
    say("clicked", slider.value === "0" && knob() < 1 ? 1 : 0);
    const axis = [...document.querySelectorAll("#curve text")].filter(text => text.matches("[text-anchor=end]"));
    say("axis", axis.length > 2 && Number(axis.at(-1).textContent) > data.curve.at(-1)[1] ? 1 : 0);
    document.querySelectorAll("#state .token")[3].dispatchEvent(new MouseEvent("mouseenter"));
    say("lit", document.querySelectorAll("table.next tr.lit").length);
    const sums = state => data.tokens.slice(0, data.seen).map((_, query) =>
        [...Array(query + 1).keys()].reduce((sum, key) =>
            sum + weight(state, data.layers - 1, 1, query, key), 0));
    say("sums", data.states.every(state => sums(state).every(sum => Math.abs(sum - 1) < 1e-5)) ? 1 : 0);
    document.querySelectorAll(".heads button")[2].focus();
    document.activeElement.click();
    say("kept", document.activeElement === document.querySelectorAll(".heads button")[2] ? 1 : 0);
    const heading = "trf_blocks.0, head 3: each row";
    say("head", document.getElementById("state").textContent.includes(heading) ? 1 : 0);
    lines().find(row => row.textContent.includes("trf_blocks.0")).click();
    say("opens", lines().length > 8 ? 1 : 0);
    press("ArrowUp", 1);
    say("plain", document.getElementById("state").textContent.includes("finished model's") ? 1 : 0);
    lines().find(row => row.textContent.includes("loss")).click();
    say("stays", document.getElementById("model").hidden ? 0 : 1);
    press("Enter");
    say("enters", document.getElementById("model").hidden ? 1 : 0);
    say("node", document.querySelector("#node .big").textContent);
    open_all(tree, true);
    draw();
    lines().find(row => label(row).endsWith(" attention")).click();
    [...document.querySelectorAll("#node button")].find(button => button.textContent === "its heads").click();
    say("heads", document.getElementById("model").hidden ? 0 : 1);
    [...document.querySelectorAll("#state button")]
        .find(button => / attention$/.test(button.textContent)).click();
    say("back_to", /^\d+ {2}attention$/.test(document.querySelector("#node h2").textContent) ? 1 : 0);
    chain();
    const sample = document.querySelector(".sample");
    say("sample", !sample || sample.textContent === "It writes <" + "/script> and \u00e9" ? 1 : 0);
    document.getElementById("fold").click();
    press("Home");
    press("ArrowDown", 3);
    say("folded", lines().filter(row => /\d/.test(row.querySelector(".value").textContent)).length);
});
