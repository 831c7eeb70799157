// A WebAssembly module of gradus. Arguments of its functions are numbers, strings, Uint8Arrays or
// Float64Arrays; what is not a number is copied into the module's memory and freed after the call. (This
// code also runs in the worker, so it must not refer to anything else on the page.)

async function open_module(gzipped) {
    const unzip = new DecompressionStream("gzip");
    const bytes = await new Response(new Blob([gzipped]).stream().pipeThrough(unzip)).arrayBuffer();
    const bad_file = () => 8;           // WASI's EBADF: a page has no files, and no stderr
    const given = { fd_close: bad_file, fd_fdstat_get: bad_file, fd_seek: bad_file, fd_write: bad_file };
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: given });
    const c = instance.exports, decoder = new TextDecoder();
    c._initialize?.();

    function copy_in(x) {
        const zero = typeof x === "string" ? new TextEncoder().encode(x + "\0") : x;
        const at = c.malloc(Math.max(1, zero.byteLength));
        if (!at) throw new Error("out of memory");
        const copied = new Uint8Array(zero.buffer, zero.byteOffset, zero.byteLength);
        new Uint8Array(c.memory.buffer).set(copied, at);
        return at;
    }
    // The memory's buffer is fetched after each call, as the call may have made the memory grow.
    function number(name, ...args) {
        const copies = [];
        const passed = args.map(x => {
            if (typeof x === "number") return x;
            copies.push(copy_in(x));
            return copies[copies.length - 1];
        });
        const result = c[name](...passed);
        copies.forEach(at => c.free(at));
        return result;
    }
    function bytes_at(at, n) { return new Uint8Array(c.memory.buffer).slice(at, at + n); }
    function text(name, ...args) {
        const at = number(name, ...args), all = new Uint8Array(c.memory.buffer);
        return at ? decoder.decode(all.subarray(at, all.indexOf(0, at))) : "";
    }
    function json(name, ...args) { return JSON.parse(text(name, ...args) || "null"); }
    return { number, text, json, bytes_at, memory: () => c.memory.buffer.byteLength };
}
