// Takes the pictures of build/page.html that the README files show:  node tests/programs/page/pictures.mjs
// (CHROMIUM=... names the browser.)
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { start } from "./chromium.mjs";

const folder = mkdtempSync(tmpdir() + "/gradus."), url = pathToFileURL("build/page.html").href;
const browser = await start(process.env.CHROMIUM || "chromium", folder);

const training = await browser.open(url + "#training", 1280, 960);
await training.until("document.querySelector('#run_place').textContent.startsWith('400 of 400')");
await training.until("document.querySelector('#run_sample_at').textContent.includes('400')");
await training.picture("examples/page/training.png");

const expression = await browser.open(url + "#expression", 1280, 680);
await expression.until("document.querySelectorAll('#rows .row').length > 4");
await expression.click("#rows .row:nth-child(2)");
await expression.picture("examples/page/expression.png");

await browser.close();
rmSync(folder, { recursive: true });
