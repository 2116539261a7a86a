"use strict";
// Shows the failures and the list of all tests: in a file at once, in a client (app.js) with each result. Text of tests is only ever put into text nodes and attributes that
// cannot hold code; the page's policy (require-trusted-types-for) makes anything else throw.
const page = (() => {
  let data = null;
  let tests = [];
  const OUTCOMES = { F: "failed", E: "error", S: "skipped", P: "passed" };
  const ROW = 32; // the height of a row in page.css
  const OPEN_CAUSES = 3;
  const LINKS = {
    cause: "Raised from the above:",
    context: "Raised while handling the above:",
    group: "The group holds:",
    member: "And:",
  };

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children.filter((child) => child !== null && child !== ""));
    return element;
  }

  // A part that is built when it is opened for the first time.
  function fold(summary, build, attributes) {
    const details = make("details", attributes || { class: "fold" }, make("summary", null, ...[summary].flat()));
    const fill = () => details.childElementCount === 1 && details.append(build());
    details.addEventListener("toggle", () => details.open && fill());
    details.unfold = () => { fill(); details.open = true; return details; };
    return details;
  }

  function button(label, action) {
    const element = make("button", { type: "button" }, label);
    element.addEventListener("click", action);
    return element;
  }

  // As Python's shlex.quote.
  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);
  const command = (words) => [data.again, ...words.map(quoted)].join(" ");

  function rerunWords(rerun) {
    return Object.entries(rerun).flatMap(([name, value]) =>
      Array.isArray(value) ? value : [`--${name.replaceAll("_", "-")}=${value}`]);
  }

  const said = document.getElementById("said");
  let silence = 0;
  function say(sentence) {
    said.textContent = sentence;
    clearTimeout(silence);
    silence = setTimeout(() => { said.textContent = ""; }, 2500);
  }

  async function copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      if (!copyBySelection(text)) return say("The browser does not allow copying.");
    }
    return say(`Copied the ${what}.`);
  }

  function copyBySelection(text) {
    const area = make("textarea", { "aria-hidden": "true", class: "hidden" });
    area.value = text;
    (document.querySelector("dialog[open]") || document.body).append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }

  // ---- One failure

  const frameCount = (number) => `${number} frame${number === 1 ? "" : "s"}`;

  function frameView(frame, raising) {
    const place = make("p", { class: "place" }, `${frame.path}:${frame.line}`);
    if (frame.function) place.append(" in ", make("b", null, frame.function));
    const item = make("li", raising ? { class: "raising" } : null, place);
    if (frame.statement) item.append(make("pre", { class: "statement" }, frame.statement));
    const values = frame.values.map(([name, value]) => `${name} = ${value}`).join("\n");
    const shown = frame.variables || values;
    if (shown && (raising || frame.variables)) item.append(make("pre", { class: "values" }, shown));
    return item;
  }

  // Frames of libraries are folded, except the one that raised.
  function framesView(raised) {
    const list = make("ol", { class: "frames" });
    const own = raised.frames.findLastIndex((frame) => frame.library === null);
    const last = raised.frames.length - 1;
    const raising = own < 0 ? last : own;
    let folded = [];
    const flush = () => {
      if (!folded.length) return;
      const frames = folded;
      const names = [...new Set(frames.map((frame) => frame.library))];
      const title = `${frameCount(frames.length)} in ${names.slice(0, 2).join(", ")}${names.length > 2 ? " and others" : ""}`;
      list.append(make("li", null, fold(title, () => make("ol", null, ...frames.map((frame) => frameView(frame, false))))));
      folded = [];
    };
    raised.frames.forEach((frame, index) => {
      if (raised.left_out && index === raised.first) {
        flush();
        list.append(make("li", { class: "note" }, `${frameCount(raised.left_out)} left out`));
      }
      if (frame.library !== null && index !== last) return folded.push(frame);
      flush();
      return list.append(frameView(frame, index === raising));
    });
    flush();
    return list;
  }

  const isDifference = (line) => /^ {0,4}[-+](?: |$)/.test(line) && !/^ *\+ +(?:where|and) /.test(line);

  // pytest points at the characters that differ in a line of its own, which begins with a question mark.
  function differing(line, hint) {
    const parts = [];
    let start = 0;
    for (const found of hint.matchAll(/[-+^]+/g)) {
      parts.push(line.slice(start, found.index), make("mark", null, line.slice(found.index, found.index + found[0].length)));
      start = found.index + found[0].length;
    }
    return [...parts, line.slice(start)].filter((part) => part !== "");
  }

  // The place of a value that differs, as in `At index 1 diff: ` or `.lines[0].price: `.
  const LABEL = /^ +(?:(?:At index \d+ diff|(?:[.\w]|\[[^\]]*\])+): )?/;

  // `left != right`: what is between the beginning and the end that both have.
  function unequal(line) {
    const sides = line.split(" != ");
    if (sides.length !== 2) return [line];
    const label = LABEL.exec(sides[0])[0];
    const [left, right] = [sides[0].slice(label.length), sides[1]];
    const shorter = Math.min(left.length, right.length);
    let start = 0;
    while (start < shorter && left[start] === right[start]) start += 1;
    let end = 0;
    while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
    const marked = (side, name) => [
      side.slice(0, start), make("mark", { class: name }, side.slice(start, side.length - end)), side.slice(side.length - end)];
    return [label, ...marked(left, "left"), " != ", ...marked(right, "right")];
  }

  function textView(text) {
    const lines = text.split("\n");
    const view = make("pre", { class: "raised" });
    let compared = false;
    lines.forEach((line, index) => {
      const next = lines[index + 1] || "";
      const previous = lines[index - 1] || "";
      if (index > 0 && isDifference(previous) && /^ {0,4}\? [-+^ ]*$/.test(line)) return;
      if (index > 0 && isDifference(line)) {
        compared = true;
        const hint = /^ {0,4}\? [-+^ ]*$/.test(next) ? next.replace("?", " ") : "";
        view.append(make(line.trimStart()[0] === "-" ? "del" : "ins", null, ...differing(line, hint)));
        return;
      }
      view.append(make("span", index ? null : { class: "first" }, ...(index && /^ +\S.* != /.test(line) ? unequal(line) : [line])));
    });
    const legend = "− the right side of the comparison, + the left side";
    return compared ? [view, make("p", { class: "legend" }, legend)] : [view];
  }

  function raisedView(raised) {
    return [
      ...(raised.frames.length ? [framesView(raised)] : []),
      ...(raised.note ? [make("p", { class: "note" }, raised.note)] : []),
      ...textView(raised.text),
      ...(raised.link ? [make("p", { class: "link" }, LINKS[raised.link] || LINKS.context)] : []),
    ];
  }

  const outputs = (sections) =>
    (sections || []).map(([title, content]) => fold(title, () => make("pre", { tabindex: "0" }, content)));

  function failureView(id) {
    const failure = data.failures[id];
    const view = make("div", { class: "failure" });
    if (!failure) {
      view.append(make("p", { class: "note" }, "Its traceback is not in this file."));
      return view;
    }
    for (const part of failure.parts) {
      if (part.title) view.append(make("p", { class: "part-title" }, part.title));
      for (const raised of part.chain || []) view.append(...raisedView(raised));
      if (!part.chain) view.append(...textView(part.text));
      view.append(...outputs(part.out));
    }
    view.append(...outputs(failure.out));
    return view;
  }

  function testButtons(id) {
    return make("div", { class: "buttons" },
      button("Copy id", () => copy(id, "node id")),
      button("Copy command", () => copy(command([id]), "command")));
  }

  // ---- The causes

  function memberView(id) {
    return make("li", null, fold(id, () => make("div", null, testButtons(id), failureView(id))));
  }

  function causeBody(cause) {
    const body = make("div", { class: "body" });
    const [example, ...others] = cause.ids;
    if (example !== undefined) {
      body.append(make("div", { class: "test-head" }, make("p", { class: "id" }, example), testButtons(example)));
      body.append(failureView(example));
    }
    const more = cause.count - cause.ids.length;
    if (others.length || more) {
      const number = cause.count - 1;
      const build = () => {
        const list = make("ul", { class: "members" }, ...others.map(memberView));
        if (more) list.append(make("li", { class: "note" }, `${more} more are not listed here`));
        return list;
      };
      body.append(fold(`${number} more with this cause`, build));
    }
    if (cause.count > 1 && cause.rerun) {
      const again = command(rerunWords(cause.rerun));
      body.append(make("div", { class: "buttons fold" },
        button("Copy all ids", () => copy(cause.ids.join("\n"), "node ids")),
        button("Copy command for all", () => copy(again, "command"))));
    }
    return body;
  }

  function causeView(cause) {
    const summary = [
      make("span", { class: "message" }, cause.message),
      ...(cause.count > 1 ? [make("span", { class: "badge" }, `${cause.count} tests`)] : []),
      ...(cause.location ? [make("span", { class: "location" }, cause.location)] : []),
    ];
    return fold(summary, () => causeBody(cause), { class: "cause" });
  }

  let causes = [];
  addEventListener("beforeprint", () => causes.forEach((view) => view.unfold()));

  function showCauses() {
    const plain = document.querySelector("#failures .plain");
    causes = plain ? data.causes.map(causeView) : [];
    if (!causes.length) return;
    causes.slice(0, OPEN_CAUSES).forEach((view) => view.unfold());
    plain.replaceWith(make("div", { class: "causes" }, ...causes));
  }

  // ---- All tests: only the rows in view are in the document

  const testsOf = (files) => files.flatMap(([file, rows]) =>
    rows.map(([name, outcome, ms, reason]) => ({ file, name, outcome, ms, reason: reason || "", id: name ? `${file}::${name}` : file })));
  const seconds = (ms) => `${(ms / 1000).toFixed(3)} s`;

  const dialog = document.getElementById("test");
  function showTest(test) {
    dialog.replaceChildren(
      make("h2", { id: "test-title" }, test.id),
      make("p", { class: "facts" }, make("strong", { class: `outcome ${test.outcome}` }, OUTCOMES[test.outcome]), ` in ${seconds(test.ms)}`),
      make("div", { class: "buttons" }, ...testButtons(test.id).children, button("Close", () => dialog.close())));
    if (test.outcome === "F" || test.outcome === "E") dialog.append(failureView(test.id));
    else if (test.reason) dialog.append(make("pre", { class: "raised" }, test.reason));
    // Only inside a client, where the window is as high as the page.
    dialog.style.setProperty("--top", `${document.getElementById("tests").offsetTop}px`);
    dialog.showModal();
  }

  function rowView(test, index, total) {
    const row = make("div", { class: "row", role: "option", id: `row-${index}`, "aria-selected": "false", "aria-setsize": total, "aria-posinset": index + 1 },
      make("span", { class: `outcome ${test.outcome}` }, OUTCOMES[test.outcome]),
      make("span", { class: "name", title: test.id }, make("bdi", null, test.file + (test.name ? "::" : ""), test.name)),
      make("span", { class: "seconds" }, seconds(test.ms)));
    row.style.top = `${index * ROW}px`;
    return row;
  }

  let redraw = () => {};
  addEventListener("resize", () => redraw());

  function showTests() {
    const section = document.getElementById("tests");
    if (!section || !tests.length) return;
    const counts = Object.fromEntries(Object.keys(OUTCOMES).map((key) => [key, tests.filter((test) => test.outcome === key).length]));
    const state = { outcome: "", words: [], order: "run", shown: tests, active: -1 };
    const rows = make("div", { class: "rows", role: "presentation" });
    const list = make("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Tests" }, rows);
    list.style.height = `${Math.max(3, tests.length) * ROW + 2}px`;
    const found = make("span", { class: "found", role: "status" });

    function draw() {
      const first = Math.max(0, Math.floor(list.scrollTop / ROW) - 8);
      const visible = state.shown.slice(first, first + Math.ceil(list.clientHeight / ROW) + 16);
      rows.replaceChildren(...visible.map((test, index) => rowView(test, first + index, state.shown.length)));
      const active = document.getElementById(`row-${state.active}`);
      if (active) active.setAttribute("aria-selected", "true");
      if (active) list.setAttribute("aria-activedescendant", active.id);
      else list.removeAttribute("aria-activedescendant");
    }

    function filter() {
      const matches = (test) => (!state.outcome || test.outcome === state.outcome)
        && state.words.every((word) => test.id.toLowerCase().includes(word) || test.reason.toLowerCase().includes(word));
      state.shown = tests.filter(matches);
      if (state.order === "time") state.shown.sort((one, other) => other.ms - one.ms);
      state.active = -1;
      rows.style.height = `${state.shown.length * ROW}px`;
      list.scrollTop = 0;
      found.textContent = `${state.shown.length.toLocaleString("en")} of ${tests.length.toLocaleString("en")}`;
      draw();
    }

    function move(index) {
      state.active = Math.max(0, Math.min(state.shown.length - 1, index));
      const top = state.active * ROW;
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
      draw();
    }

    const page = () => Math.floor(list.clientHeight / ROW);
    const KEYS = {
      ArrowDown: () => move(state.active + 1), ArrowUp: () => move(state.active - 1),
      PageDown: () => move(state.active + page()), PageUp: () => move(state.active - page()),
      Home: () => move(0), End: () => move(state.shown.length - 1),
      Enter: () => state.shown[state.active] && showTest(state.shown[state.active]),
    };
    list.addEventListener("keydown", (event) => {
      if (!KEYS[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      KEYS[event.key]();
    });
    list.addEventListener("scroll", draw, { passive: true });
    list.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      move(Number(row.id.slice("row-".length)));
      KEYS.Enter();
    });
    redraw = draw;

    const choices = [["", "All", tests.length], ...Object.entries(OUTCOMES).map(([key, word]) => [key, word, counts[key]])]
      .filter(([key, , number]) => !key || number);
    const buttons = choices.map(([key, word, number]) => {
      const element = button(`${word} ${number.toLocaleString("en")}`, () => {
        state.outcome = key;
        buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === element)));
        filter();
      });
      element.setAttribute("aria-pressed", String(key === ""));
      element.dataset.outcome = key;
      return element;
    });
    const search = make("input", { type: "search", placeholder: "Filter by name or reason", "aria-label": "Filter by name or reason" });
    search.addEventListener("input", () => { state.words = search.value.toLowerCase().split(/\s+/).filter(Boolean); filter(); });
    const order = make("select", { "aria-label": "Order" }, make("option", { value: "run" }, "In order"), make("option", { value: "time" }, "Slowest first"));
    order.addEventListener("change", () => { state.order = order.value; filter(); });

    section.querySelector(".plain").replaceWith(
      make("div", { class: "filters" }, make("div", { class: "buttons", role: "group", "aria-label": "Outcome" }, ...buttons), search, order, found), list);
    filter();
  }

  function showCopyButtons() {
    for (const element of document.querySelectorAll(".copyable"))
      element.append(button("Copy", () => copy(element.querySelector("code").textContent, "text")));
  }

  function show(shown) {
    data = shown;
    tests = testsOf(data.files);
    showCauses();
    showTests();
    showCopyButtons();
  }

  // ---- Elements from a tree: a text, or [tag, attributes, child, …]

  const SVG = /^(?:svg|path|rect)$/;
  const HTML = /^(?:article|code|dd|div|dl|dt|h[123]|header|li|ol|p|pre|section|span|table|tbody|td|th|thead|tr|ul)$/;
  const ATTRIBUTES = /^(?:aria-[a-z]+|class|d|focusable|height|id|preserveAspectRatio|role|scope|tabindex|viewBox|width|x|y)$/;

  function build(node) {
    if (typeof node === "string") return node;
    const [tag, attributes, ...children] = node;
    if (!SVG.test(tag) && !HTML.test(tag)) return "";
    const element = SVG.test(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) if (ATTRIBUTES.test(name)) element.setAttribute(name, value);
    element.append(...children.map(build));
    return element;
  }

  const element = document.getElementById("data");
  if (element) show(JSON.parse(element.textContent));
  return { show, build, make, button };
})();
