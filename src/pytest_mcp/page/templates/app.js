// The page inside a client, by MCP Apps (2026-01-26): JSON-RPC with the window around this one. It comes after page.js.
// The client sends results; their page is in `_meta`, and the model does not see it.
(() => {
  const PROTOCOL = "2026-01-26";
  const KEY = "pytest-mcp/page";
  const TOOL = "execute_tests";
  const NOT_FOUND = { code: -32601, message: "Method not found" };

  // ---- Messages

  const waiting = new Map();
  let lastId = 0;
  // The client's origin is not known; nothing but requests goes out.
  const send = (message) => parent.postMessage({ jsonrpc: "2.0", ...message }, "*");

  function request(method, params) {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      send({ id, method, params });
    });
  }

  function settle({ id, result, error }) {
    const asked = waiting.get(id);
    if (!asked) return;
    waiting.delete(id);
    if (error) asked.reject(new Error(error.message || "the client gave no reason"));
    else asked.resolve(result);
  }

  const NOTIFICATIONS = new Map([
    ["ui/notifications/tool-input", () => tell("Running the tests …")],
    ["ui/notifications/tool-result", (result) => showResult(result, "")],
    ["ui/notifications/tool-cancelled", ({ reason }) => tell(`The call was cancelled${reason ? `: ${reason}` : ""}.`)],
    ["ui/notifications/host-context-changed", (context) => dress(context)],
  ]);
  const ANSWERED = ["ping", "ui/resource-teardown"];

  addEventListener("message", ({ source, data }) => {
    if (source !== parent || !data || data.jsonrpc !== "2.0") return;
    if (data.method === undefined) settle(data);
    else if (data.id === undefined) (NOTIFICATIONS.get(data.method) || (() => {}))(data.params || {});
    else if (ANSWERED.includes(data.method)) send({ id: data.id, result: {} });
    else send({ id: data.id, error: NOT_FOUND });
  });

  // ---- The result

  const again = document.getElementById("again");
  let canCall = false;

  const tell = (sentence, ...more) => again.replaceChildren(...more, page.make("span", null, sentence));

  const textOf = (result) => (result.content || []).map((block) => block.text || "").join("\n");

  // Text, wherever it comes from: a failed call has its reason as JSON.
  function reason(text) {
    try {
      return JSON.parse(text).message || text;
    } catch {
      return text;
    }
  }

  function showResult(result, note) {
    const shown = result._meta && result._meta[KEY];
    if (result.isError) return tell(reason(textOf(result)), ...rerunButton());
    if (!shown) return tell(`Verdict: ${(result.structuredContent || {}).verdict || "unknown"}. The result came without its page.`);
    page.show(shown);
    rerun = shown.rerun;
    return tell(note, ...rerunButton());
  }

  // ---- Running the failures again

  let rerun = null;
  const rerunButton = () => (rerun && canCall ? [page.button("Run the failures again", runAgain)] : []);

  async function runAgain() {
    tell("Running the failures again …");
    document.body.setAttribute("aria-busy", "true");
    try {
      const result = await request("tools/call", { name: TOOL, arguments: rerun });
      showResult(result, "This is the result of running the failures again, without the other tests.");
    } catch (error) {
      tell(`The failures could not be run again: ${error.message}`, ...rerunButton());
    } finally {
      document.body.removeAttribute("aria-busy");
    }
  }

  // ---- The look

  const dark = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
    .find((rule) => rule.media && rule.media.mediaText.includes("prefers-color-scheme"));

  function dress({ theme }) {
    if (theme !== "light" && theme !== "dark") return;
    dark.media.mediaText = theme === "dark" ? "all" : "not all";
    document.documentElement.style.colorScheme = theme;
  }

  let size = "";
  function reportSize() {
    const { width, height } = document.body.getBoundingClientRect();
    const params = { width: Math.ceil(width), height: Math.ceil(height) };
    if (JSON.stringify(params) === size) return;
    size = JSON.stringify(params);
    send({ method: "ui/notifications/size-changed", params });
  }

  // ---- The beginning

  async function start() {
    tell("Waiting for the result of the tests.");
    const appInfo = { name: "pytest-mcp", version: "1" };
    const host = await request("ui/initialize", { protocolVersion: PROTOCOL, appInfo, appCapabilities: {} });
    canCall = Boolean(host.hostCapabilities && host.hostCapabilities.serverTools);
    dress(host.hostContext || {});
    send({ method: "ui/notifications/initialized", params: {} });
    new ResizeObserver(reportSize).observe(document.body);
  }

  start().catch((error) => tell(`The client refused the page: ${error.message}`));
})();
