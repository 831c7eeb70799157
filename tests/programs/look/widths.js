// Finds texts that are cut off or too wide, in each view, in frames of three widths, with all layers open.
const html = "<!doctype html>" + document.documentElement.outerHTML;
const wait = () => new Promise(done => setTimeout(done, 100));
async function measure(width) {
    const frame = document.createElement("iframe"), cut = [];
    frame.style.cssText = `width: ${width}px; height: 700px`;
    frame.srcdoc = html;
    document.body.append(frame);
    await new Promise(done => frame.onload = done);
    const page = frame.contentWindow, root = page.document.documentElement;
    const look = where => {
        if (root.scrollWidth > root.clientWidth) cut.push(where + ": the page is too wide");
        for (const box of root.querySelectorAll(".row span, button, th, #right, .pair > div, h2, h3, .facts"))
            if (box.scrollWidth > box.clientWidth + 1 && box.clientWidth)
                cut.push(`${where}: ${box.className || box.tagName} ${box.textContent.slice(0, 30)}`);
        for (const text of root.querySelectorAll("#model svg text")) {
            const inner = text.getBoundingClientRect(), outer = text.ownerSVGElement.getBoundingClientRect();
            if (inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1))
                cut.push(`${where}: ${text.textContent}`);
        }
    };
    await wait();
    look("at first");
    const fold = page.document.getElementById("fold");
    if (fold.textContent === "unfold") fold.click();
    page.document.querySelectorAll("#rows .row").forEach((row, i, all) => {
        if (i % 9 !== 4 || all[i].hasAttribute("aria-expanded")) return;
        page.document.querySelectorAll("#rows .row")[i].click();
        page.document.dispatchEvent(new page.KeyboardEvent("keydown", { key: "Enter" }));
        look(page.document.querySelector("#node h2").textContent);
    });
    say(`cut${width}`, cut.length);
    seen.push(...cut.slice(0, 5));
    frame.remove();
}
drive(async () => {
    for (const width of [390, 800, 1280]) await measure(width);
});
