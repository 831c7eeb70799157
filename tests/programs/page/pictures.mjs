// Takes the pictures of build/page.html that the README files show:  node tests/programs/page/pictures.mjs
// (CHROMIUM=... names the browser.)
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { start } from "./chromium.mjs";

const folder = mkdtempSync(tmpdir() + "/gradus."), url = pathToFileURL("build/page.html").href;
const browser = await start(process.env.CHROMIUM || "chromium", folder);

const first = await browser.open(url, 1280, 760);
await first.until("run.moment");
await first.click("#run_play");
await first.until("run.moment.step > 120");
await first.click("#run_play");
await first.until("!training.playing && !run.asked && !to_draw.size");
await first.picture("examples/page/first.png");

const training = await browser.open(url + "#training", 1280, 960);
await training.until("run.moment");
await training.click("#run_play");
await training.until("run.moment.step === 400 && !to_draw.size");
await training.picture("examples/page/training.png");

const expression = await browser.open(url + "#expression", 1280, 780);
await expression.until("document.querySelectorAll('#rows .row').length > 4");
await expression.click("#rows .row:nth-child(2)");
await expression.picture("examples/page/expression.png");

await browser.close();
rmSync(folder, { recursive: true });
