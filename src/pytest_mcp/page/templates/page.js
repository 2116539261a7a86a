"use strict";
// Builds the page from one value: in a file at once, in a client (app.js) with each result. Text of tests is only ever put into text nodes and attributes that
// cannot hold code; the page's policy (require-trusted-types-for) makes anything else throw.
const page = (() => {
  let data = null;
  let tests = [];
  const OUTCOMES = { F: "failed", E: "error", S: "skipped", P: "passed" };
  const MARKS = { passed: "M5 12.5l4.5 4.5L19 7.5", failed: "M6.5 6.5l11 11M17.5 6.5l-11 11", incomplete: "M12 5.5v8M12 17.5v.5", no_tests: "M6 12h12" };
  const COLOURS = { passed: "#1a7f37", failed: "#b62324", incomplete: "#8a5a00", no_tests: "#57606a" };
  // Of the letters of recorded runs, as page.css has colours.
  const KINDS = { P: "passed", F: "failed", R: "failed", E: "error", C: "error", H: "error", S: "skipped" };
  const LEAST_SHARE = 0.006;
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

  function draw(tag, attributes, ...children) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }

  // A picture that only repeats what a text beside it says.
  const picture = (attributes, ...children) => draw("svg", { "aria-hidden": "true", focusable: "false", ...attributes }, ...children);

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
    const values = (frame.values || []).map(([name, value]) => `${name} = ${value}`).join("\n");
    const shown = frame.variables || values;
    if (shown && (raising || frame.variables)) item.append(make("pre", { class: "values" }, shown));
    return item;
  }

  // Frames of libraries are folded, except the one that raised.
  function framesView(raised) {
    const { frames } = raised;
    const list = make("ol", { class: "frames" });
    const own = frames.findLastIndex((frame) => !frame.library);
    const last = frames.length - 1;
    const raising = own < 0 ? last : own;
    let folded = [];
    const flush = () => {
      if (!folded.length) return;
      const hidden = folded;
      const names = [...new Set(hidden.map((frame) => frame.library))];
      const title = `${frameCount(hidden.length)} in ${names.slice(0, 2).join(", ")}${names.length > 2 ? " and others" : ""}`;
      list.append(make("li", null, fold(title, () => make("ol", null, ...hidden.map((frame) => frameView(frame, false))))));
      folded = [];
    };
    frames.forEach((frame, index) => {
      if (raised.left_out && index === raised.first) {
        flush();
        list.append(make("li", { class: "note" }, `${frameCount(raised.left_out)} left out`));
      }
      if (frame.library && index !== last) return folded.push(frame);
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
      ...(raised.frames ? [framesView(raised)] : []),
      ...(raised.note ? [make("p", { class: "note" }, raised.note)] : []),
      ...textView(raised.text || ""),
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
    for (const part of failure.parts || []) {
      if (part.title) view.append(make("p", { class: "part-title" }, part.title));
      for (const raised of part.chain || []) view.append(...raisedView(raised));
      if (!part.chain) view.append(...textView(part.text || ""));
      view.append(...outputs(part.out));
    }
    view.append(...outputs(failure.out));
    return view;
  }

  function testButtons(id) {
    return make("div", { class: "buttons" },
      button("Copy id", () => copy(id, "node id")),
      button("Copy command", () => copy(command([id]), "command")),
      inFile ? button("Copy link", () => copy(location.href.split("#")[0] + LINK + encodeURIComponent(id), "link")) : null);
  }

  // A page that is opened with such a link shows this test.
  const LINK = "#test=";
  function showLinked() {
    if (!data || !location.hash.startsWith(LINK)) return;
    const id = decodeURIComponent(location.hash.slice(LINK.length));
    const test = tests.find((each) => each.id === id) || (data.failures[id] && { id });
    if (test) showTest(test);
    else say("The linked test is not on this page.");
  }
  addEventListener("hashchange", showLinked);

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

  function causesView() {
    causes = data.causes.map(causeView);
    causes.slice(0, OPEN_CAUSES).forEach((view) => view.unfold());
    return make("div", { class: "causes" }, ...causes);
  }

  // ---- All tests: only the rows in view are in the document

  const testsOf = (files) => files.flatMap(([file, rows]) =>
    rows.map(([name, outcome, ms, reason]) => ({ file, name, outcome, ms, reason: reason || "", id: name ? `${file}::${name}` : file })));
  const seconds = (ms) => `${(ms / 1000).toFixed(3)} s`;

  const dialog = document.getElementById("test");
  function showTest(test) {
    dialog.replaceChildren(
      make("h2", { id: "test-title" }, test.id),
      ...(test.outcome ? [make("p", { class: "facts" }, make("strong", { class: `outcome ${test.outcome}` }, OUTCOMES[test.outcome]), ` in ${seconds(test.ms)}`)] : []),
      make("div", { class: "buttons" }, ...testButtons(test.id).children, button("Close", () => dialog.close())));
    if ("PS".includes(test.outcome)) dialog.append(...(test.reason ? [make("pre", { class: "raised" }, test.reason)] : []));
    else dialog.append(failureView(test.id));
    // Only inside a client, where the window is as high as the page.
    const section = document.getElementById("tests");
    if (section) dialog.style.setProperty("--top", `${section.offsetTop}px`);
    if (!dialog.open) dialog.showModal();
  }

  function rowView(test, index, total, height) {
    const row = make("div", { class: "row", role: "option", id: `row-${index}`, "aria-selected": "false", "aria-setsize": total, "aria-posinset": index + 1 },
      make("span", { class: `outcome ${test.outcome}` }, OUTCOMES[test.outcome]),
      make("span", { class: "name", title: test.id }, make("span", { class: "file" }, make("bdi", null, test.file + (test.name ? "::" : ""))), make("span", null, test.name)),
      make("span", { class: "seconds" }, seconds(test.ms)));
    row.style.top = `${index * height}px`;
    return row;
  }

  let redraw = () => {};
  addEventListener("resize", () => redraw());

  function testsView() {
    const number = (letters) => tests.filter((test) => letters.includes(test.outcome)).length;
    const choices = [["FESP", "All"], ["FE", "failing"], ...Object.entries(OUTCOMES)]
      .filter(([letters]) => (letters === "FE" ? number("F") && number("E") : number(letters)));
    const failing = choices.find(([letters]) => ["FE", "F", "E"].includes(letters));
    const state = { letters: (failing || choices[0])[0], words: [], order: "run", shown: tests, active: -1 };
    const rows = make("div", { class: "rows", role: "presentation" });
    const list = make("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Tests" }, rows);
    // A narrow page has two lines in a row.
    const rowHeight = () => parseFloat(getComputedStyle(list).getPropertyValue("--row")) || 32;
    const found = make("span", { class: "found", role: "status" });

    function drawRows() {
      const height = rowHeight();
      list.style.height = `${Math.max(1, state.shown.length) * height + 2}px`;
      rows.style.height = `${state.shown.length * height}px`;
      const first = Math.max(0, Math.floor(list.scrollTop / height) - 8);
      const visible = state.shown.slice(first, first + Math.ceil(list.clientHeight / height) + 16);
      rows.replaceChildren(...visible.map((test, index) => rowView(test, first + index, state.shown.length, height)));
      const active = document.getElementById(`row-${state.active}`);
      if (active) active.setAttribute("aria-selected", "true");
      if (active) list.setAttribute("aria-activedescendant", active.id);
      else list.removeAttribute("aria-activedescendant");
    }

    function filter() {
      const matches = (test) => state.letters.includes(test.outcome)
        && state.words.every((word) => test.id.toLowerCase().includes(word) || test.reason.toLowerCase().includes(word));
      state.shown = tests.filter(matches);
      if (state.order === "time") state.shown.sort((one, other) => other.ms - one.ms);
      state.active = -1;
      list.scrollTop = 0;
      found.textContent = `${state.shown.length.toLocaleString("en")} of ${tests.length.toLocaleString("en")}`;
      drawRows();
    }

    function move(index) {
      state.active = Math.max(0, Math.min(state.shown.length - 1, index));
      const height = rowHeight();
      const top = state.active * height;
      if (top < list.scrollTop) list.scrollTop = top;
      if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
      drawRows();
    }

    const page = () => Math.floor(list.clientHeight / rowHeight());
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
    list.addEventListener("scroll", drawRows, { passive: true });
    list.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (!row) return;
      move(Number(row.id.slice("row-".length)));
      KEYS.Enter();
    });

    const buttons = choices.map(([letters, word]) => {
      const element = button(`${word} ${number(letters).toLocaleString("en")}`, () => {
        state.letters = letters;
        buttons.forEach((each) => each.setAttribute("aria-pressed", String(each === element)));
        filter();
      });
      element.setAttribute("aria-pressed", String(letters === state.letters));
      return element;
    });
    const search = make("input", { type: "search", placeholder: "Filter by name or reason", "aria-label": "Filter by name or reason" });
    search.addEventListener("input", () => { state.words = search.value.toLowerCase().split(/\s+/).filter(Boolean); filter(); });
    const order = make("select", { "aria-label": "Order" }, make("option", { value: "run" }, "In order"), make("option", { value: "time" }, "Slowest first"));
    order.addEventListener("change", () => { state.order = order.value; filter(); });

    // Its height is known when it is in the document.
    redraw = filter;
    return [make("div", { class: "filters" }, make("div", { class: "buttons", role: "group", "aria-label": "Outcome" }, ...buttons), search, order, found), list];
  }

  // ---- The other blocks of sections

  function countsView(counts) {
    const tiles = counts.map(([name, kind, number]) =>
      make("div", { class: `tile ${number ? kind : "none"}` }, make("dt", null, name), make("dd", null, number.toLocaleString("en"))));
    const drawn = counts.filter(([, kind, number]) => number && !["total", "deselected"].includes(kind));
    const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
    const all = sum(drawn.map(([, , number]) => number));
    // No share is too small to be seen.
    const shares = drawn.map(([, , number]) => Math.max(number / all, LEAST_SHARE));
    const scale = 1000 / sum(shares);
    const bars = drawn.map(([, kind], index) =>
      draw("rect", { class: kind, x: scale * sum(shares.slice(0, index)), width: scale * shares[index], height: 8 }));
    return [make("dl", { class: "tiles" }, ...tiles),
      picture({ class: "shares", viewBox: "0 0 1000 8", preserveAspectRatio: "none" }, ...bars)];
  }

  const errorView = ([place, message, more, traceback]) => make("article", { class: "cause uncollected" },
    make("h3", null, place), make("p", { class: "message" }, message), make("p", { class: "location" }, more), make("pre", null, traceback));

  const barView = ([name, label, share]) => make("li", null,
    make("span", { class: "name" }, name), " ", make("span", { class: "seconds" }, label),
    picture({ viewBox: "0 0 100 4", preserveAspectRatio: "none" }, draw("rect", { width: share, height: 4 })));

  const chartView = ([title, rows]) => make("div", { class: "chart" }, make("h3", null, title), make("ol", null, ...rows.map(barView)));

  // One letter for each run, and above it a bar as high as the run took long.
  function stripView([name, words, runs]) {
    const longest = Math.max(...runs.map(([, took]) => took || 0)) || 1;
    const bars = runs.map(([letter, took], index) => {
      const height = Math.max(2, 20 * (took || 0) / longest);
      return draw("rect", { class: KINDS[letter] || "unknown", x: 10 * index, y: 20 - height, width: 8, height });
    });
    return make("li", null, make("span", { class: "name" }, name), " ", make("span", { class: "words" }, words), " ",
      make("span", { class: "runs" },
        picture({ viewBox: `0 0 ${10 * runs.length} 20`, width: `${runs.length}ch`, preserveAspectRatio: "none" }, ...bars),
        make("code", null, runs.map(([letter]) => letter).join(""))));
  }

  const coverageView = ([file, label, lines, branches, source]) => make("li", null,
    make("span", { class: "name" }, file), make("span", { class: "words" }, label),
    source.length ? fold(lines, () => sourceView(source)) : make("p", { class: "words" }, lines),
    branches ? make("p", { class: "words" }, branches) : null);

  function sourceView(source) {
    const width = String(source.at(-1)[0]).length;
    return make("pre", { tabindex: "0" }, source.map(([number, text]) => `${String(number).padStart(width)}  ${text}`).join("\n"));
  }

  const copyableView = ([title, text]) => make("div", { class: "copyable" },
    make("h3", null, title), make("pre", null, make("code", null, text)), button("Copy", () => copy(text, "text")));

  const cells = (kind, texts) => make("tr", null, ...texts.map((text) => make(kind, null, text)));
  const sidesView = ([head, rows]) => make("table", { class: "sides" },
    make("thead", null, cells("th", head)), make("tbody", null, ...rows.map((row) => cells("td", row))));

  // What a section can hold.
  const BLOCKS = {
    causes: () => [causesView()],
    charts: (charts) => [make("div", { class: "charts" }, ...charts.map(chartView))],
    copyable: (value) => [copyableView(value)],
    counts: countsView,
    coverage: (files) => [make("ul", { class: "covered" }, ...files.map(coverageView))],
    errors: (errors) => errors.map(errorView),
    legend: (text) => [make("p", { class: "legend" }, text)],
    list: (texts) => [make("ul", null, ...texts.map((text) => make("li", null, text)))],
    sides: (value) => [sidesView(value)],
    strips: (rows) => [make("ol", { class: "strips" }, ...rows.map(stripView))],
    tests: testsView,
    text: (text) => [make("p", null, text)],
  };

  const sectionView = ([id, title, blocks]) => make("section", { id, "aria-labelledby": `${id}-title` },
    make("h2", { id: `${id}-title`, ...(id === "counts" ? { class: "hidden" } : {}) }, title),
    ...blocks.flatMap(([kind, value]) => BLOCKS[kind](value)));

  const bannerView = ({ verdict, word, sentence, more, project, when }) => make("header", { class: `banner ${verdict}` },
    make("div", { class: "inner" },
      make("p", { class: "project" }, project),
      make("h1", null, picture({ class: "mark", viewBox: "0 0 24 24" }, draw("path", { d: MARKS[verdict] })), word),
      make("p", { class: "sentence" }, sentence),
      more ? make("pre", { class: "more" }, more) : null,
      make("p", { class: "when" }, when)));

  const factView = ([name, value]) => make("div", null, make("dt", null, name), make("dd", null, value));

  function showIcon(verdict) {
    const mark = `<path d="${MARKS[verdict]}" fill="none" stroke="white" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/>`;
    const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><circle cx="12" cy="12" r="11.5" fill="${COLOURS[verdict]}"/>${mark}<\/svg>`;
    document.getElementById("icon").href = `data:image/svg+xml,${encodeURIComponent(icon)}`;
  }

  const fill = (id, ...children) => document.getElementById(id).replaceChildren(...children);

  function show(shown) {
    data = shown;
    tests = testsOf(data.files);
    redraw = () => {};
    showIcon(data.verdict);
    fill("banner", bannerView(data));
    fill("content", ...data.sections.map(sectionView));
    fill("foot", ...data.facts.map(factView));
    document.querySelector("footer").hidden = false;
    redraw();
    showLinked();
  }

  const given = JSON.parse(document.getElementById("data").textContent);
  const inFile = given !== null;
  if (inFile) show(given);
  return { show, make, button };
})();
