// Runs losses(steps) of a module and prints what it returns. What the module imports, a page could give.
import fs from "node:fs";

const [, , file, steps] = process.argv;
const module = new WebAssembly.Module(fs.readFileSync(file));
const given = { fd_close: () => 0, fd_fdstat_get: () => 0, fd_seek: () => 0, fd_write: () => 0 };
for (const { module: from, name } of WebAssembly.Module.imports(module))
    if (!(name in given))
        throw new Error(`the module imports ${from}.${name}, which a page cannot give`);
const { exports } = new WebAssembly.Instance(module, { wasi_snapshot_preview1: given });
exports._initialize?.();
const at = exports.losses(Number(steps));
const memory = new Uint8Array(exports.memory.buffer);          // after the call, which may make it grow
process.stdout.write(Buffer.from(memory.subarray(at, memory.indexOf(0, at))));
