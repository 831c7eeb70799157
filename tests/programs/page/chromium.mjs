// Pages in Chromium, by its debugging protocol through a pipe.
import { connect, Page, quoted, run } from "./browser.mjs";

const numbers = { Tab: 9, Enter: 13, Escape: 27, " ": 32, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38,
                  ArrowRight: 39, ArrowDown: 40, Delete: 46 };

class Tab extends Page {
    workers = [];               // sessions
    constructor(send, session) {
        super();
        this.send_to = send;
        this.session = session;
    }
    send(method, params) { return this.send_to(method, params, this.session); }
    on_event({ method, params, sessionId }) {
        const say = what => this.messages.push(what);
        if (sessionId !== this.session && !this.workers.includes(sessionId)) return;
        switch (method) {
        case "Runtime.consoleAPICalled": return say(params.args.map(x => x.value ?? x.description).join(" "));
        case "Runtime.exceptionThrown":
            return say(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
        case "Log.entryAdded": return say(params.entry.text);
        case "Network.requestWillBeSent": return this.requests.push(params.request.url);
        case "Target.detachedFromTarget":
            return this.workers = this.workers.filter(session => session !== params.sessionId);
        case "Page.javascriptDialogOpening":
            say("dialog: " + params.message);
            return this.send("Page.handleJavaScriptDialog", { accept: true });
        case "Target.attachedToTarget":
            this.workers.push(params.sessionId);
            for (const call of ["Runtime.enable", "Log.enable", "Runtime.runIfWaitingForDebugger"])
                this.send_to(call, {}, params.sessionId).catch(() => {});
        }
    }
    async evaluate(expression, session = this.session) {
        const { result, exceptionDetails: wrong } = await this.send_to("Runtime.evaluate",
            { expression, awaitPromise: true, returnByValue: true, userGesture: true }, session);
        if (wrong) throw new Error((wrong.exception?.description ?? wrong.text) + " in " + expression);
        return result.value;
    }
    async mouse([x, y], kinds) {
        const types = { move: "mouseMoved", down: "mousePressed", up: "mouseReleased" };
        for (const kind of kinds) {
            this.held = kind === "down" || kind === "move" && this.held;
            await this.send("Input.dispatchMouseEvent", { type: types[kind], x, y, clickCount: 1,
                button: kind === "move" && !this.held ? "none" : "left", buttons: this.held ? 1 : 0 });
        }
    }
    async key(key, held) {
        const number = numbers[key] ?? (/^[a-z0-9]$/i.test(key) ? key.toUpperCase().charCodeAt(0) : 0),
              what = { key, windowsVirtualKeyCode: number, modifiers: { Control: 2, Shift: 8 }[held] },
              text = held === "Control" ? "" : key === "Enter" ? "\r" : key.length === 1 ? key : "";
        await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", text, ...what });
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...what });
    }
    resize(width, height) {
        return this.send("Emulation.setDeviceMetricsOverride",
            { width, height, deviceScaleFactor: 1, mobile: false });
    }
    media(wishes) {                                     // { "prefers-color-scheme": "dark" }, for example
        const features = Object.entries(wishes).map(([name, value]) => ({ name, value }));
        return this.send("Emulation.setEmulatedMedia", { features });
    }
    async attach(selector, file) {                      // chooses a file
        const { result } = await this.send("Runtime.evaluate",
            { expression: `document.querySelector(${quoted(selector)})` });
        await this.send("DOM.setFileInputFiles", { files: [file], objectId: result.objectId });
    }
    async drop(selector, file) {
        const [x, y] = await this.point(selector), data = { items: [], files: [file], dragOperationsMask: 1 };
        const send = type => this.send("Input.dispatchDragEvent", { type, x, y, data });
        await this.evaluate(`(globalThis.dragged = false,
            addEventListener("dragover", () => setTimeout(() => dragged = true), { once: true }))`);
        await send("dragEnter");
        while (!await this.evaluate("dragged")) await send("dragOver");     // only then may a file be dropped
        await send("drop");
    }
    async screenshot() { return (await this.send("Page.captureScreenshot", { format: "png" })).data; }
    close() { return this.send("Page.close"); }
}

export async function start(program, folder) {
    const [child, ended] = run(program, folder, ["--headless=new", "--no-sandbox", "--disable-gpu",
        "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--remote-debugging-pipe", "--user-data-dir=" + folder + "/profile"],
        ["ignore", "ignore", "ignore", "pipe", "pipe"]);
    const pages = [], { send, receive } = connect(text => child.stdio[3].write(text + "\0"),
        event => pages.forEach(page => page.on_event(event)));
    let rest = "";
    child.stdio[4].setEncoding("utf8").on("data", data => {
        const texts = (rest + data).split("\0");
        rest = texts.pop();
        texts.forEach(receive);
    });
    await send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: folder + "/downloads" });
    return {
        async open(url, width, height, wishes = {}) {
            const { targetId } = await send("Target.createTarget", { url: "about:blank" });
            const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
            const page = new Tab(send, sessionId);
            pages.push(page);
            for (const part of ["Page", "Runtime", "Log", "Network"]) await page.send(part + ".enable");
            await page.send("Target.setAutoAttach",
                { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
            await page.resize(width, height);
            await page.media(wishes);
            await page.send("Page.navigate", { url });
            await page.until("document.readyState === 'complete'");
            return page;
        },
        close: () => Promise.race([ended, send("Browser.close").catch(() => {}).then(() => ended)]),
    };
}
