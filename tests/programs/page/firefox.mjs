// Pages in Firefox, by WebDriver BiDi over a WebSocket (node 20 has one with --experimental-websocket).
import { mkdirSync, writeFileSync } from "node:fs";
import { connect, Page, quoted, run } from "./browser.mjs";

const keys = { Tab: "\ue004", Enter: "\ue007", Escape: "\ue00c", Delete: "\ue017", End: "\ue010",
               Home: "\ue011", ArrowLeft: "\ue012", ArrowUp: "\ue013", ArrowRight: "\ue014",
               ArrowDown: "\ue015", Control: "\ue009", Shift: "\ue008" };
const settings = { "browser.download.folderList": 2, "app.update.enabled": false,
    "datareporting.policy.dataSubmissionEnabled": false, "network.captive-portal-service.enabled": false,
    "network.connectivity-service.enabled": false, "services.settings.server": "data:,",
    "browser.safebrowsing.update.enabled": false, "extensions.update.enabled": false };

class Tab extends Page {
    constructor(send, context) {
        super();
        this.send = (method, params) => send(method, { context, ...params });
        this.context = context;
    }
    on_event({ method, params }) {
        if ((params.context ?? params.source?.context) !== this.context) return;
        if (method === "network.beforeRequestSent") this.requests.push(params.request.url);
        else this.messages.push(params.text ?? "dialog: " + params.message);
    }
    async evaluate(expression) {
        const { result, exceptionDetails: wrong } = await this.send("script.evaluate",
            { awaitPromise: true, userActivation: true,
            expression: `Promise.resolve(${expression}).then(value => JSON.stringify(value))`,
            target: { context: this.context } });
        if (wrong) throw new Error(wrong.text + " in " + expression);
        return result.value && JSON.parse(result.value);
    }
    mouse([x, y], kinds) {
        const actions = kinds.map(kind => kind === "move" ? { type: "pointerMove", x, y }
            : { type: kind === "down" ? "pointerDown" : "pointerUp", button: 0 });
        return this.send("input.performActions", { actions: [{ type: "pointer", id: "mouse", actions }] });
    }
    key(key, held) {
        const down = [held, key].filter(Boolean).map(name => keys[name] ?? name),
              actions = [...down.map(value => ({ type: "keyDown", value })),
                         ...down.reverse().map(value => ({ type: "keyUp", value }))];
        return this.send("input.performActions", { actions: [{ type: "key", id: "keys", actions }] });
    }
    resize(width, height) {
        return this.send("browsingContext.setViewport", { viewport: { width, height } });
    }
    async attach(selector, file) {
        const { nodes } = await this.send("browsingContext.locateNodes",
            { locator: { type: "css", value: selector } });
        await this.send("input.setFiles", { element: nodes[0], files: [file] });
    }
    async screenshot() { return (await this.send("browsingContext.captureScreenshot")).data; }
    close() { return this.send("browsingContext.close"); }
}

export async function start(program, folder) {
    mkdirSync(folder + "/profile", { recursive: true });
    writeFileSync(folder + "/profile/user.js",
        Object.entries({ ...settings, "browser.download.dir": folder + "/downloads" })
            .map(([name, value]) => `user_pref("${name}", ${quoted(value)});\n`).join(""));
    const [child, ended] = run(program, folder, ["--headless", "--no-remote",
        "--profile", folder + "/profile", "--remote-debugging-port=0"], ["ignore", "ignore", "pipe"]);
    const address = await new Promise((resolve, reject) => {
        let text = "";
        child.stderr.on("data", data => {
            const found = /WebDriver BiDi listening on (ws:\S+)/.exec(text += data);
            if (found) resolve(found[1]);
        });
        ended.then(() => reject(new Error("it does not start: " + text)));
    });
    const pages = [], socket = new WebSocket(address + "/session"),
          { send, receive } = connect(text => socket.send(text),
              event => pages.forEach(page => page.on_event(event)));
    await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
    socket.onmessage = event => receive(event.data);
    await send("session.new",
        { capabilities: { alwaysMatch: { unhandledPromptBehavior: { default: "accept" } } } });
    await send("session.subscribe",
        { events: ["log.entryAdded", "browsingContext.userPromptOpened", "network.beforeRequestSent"] });
    return {
        async open(url, width, height) {
            const page = new Tab(send, (await send("browsingContext.create", { type: "tab" })).context);
            pages.push(page);
            await page.resize(width, height);
            await page.send("browsingContext.navigate", { url, wait: "complete" });
            return page;
        },
        async close() {
            send("browser.close").catch(() => {});
            await ended;
            socket.close();
        },
    };
}
