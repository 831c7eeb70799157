// Acts like a visitor of build/page.html, in a browser:
//
//     node page.mjs chromium PROGRAM PAGE NATIVE FOLDER [PART ...]
//
// Each check is a line of fields with tabs between them: ok or no, what, why not. The last line is "end".
// NATIVE computes the expression; files to be compared with other programs are left in FOLDER.
import { pathToFileURL } from "node:url";

const [name, program, file, native, folder, ...chosen] = process.argv.slice(2);
const parts = name === "chromium" ? ["first", "expression", "training", "broken", "hostile", "layout"]
    : ["first", "expression", "training"];
const { start } = await import(`./${name}.mjs`), browser = await start(program, folder);
for (const part of chosen.length ? chosen : parts) {
    const { default: drive } = await import(`./${part}.mjs`);
    await drive(browser, pathToFileURL(file).href, folder, native);
}
await browser.close();
console.log("end");
