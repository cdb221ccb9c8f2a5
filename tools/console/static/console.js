// The script of the console: times in the zone of the browser, the time bar, pages that follow the cell. Pages work without it.
"use strict";
(() => {
  const $ = (selector, within = document) => within.querySelector(selector);
  const all = (selector, within = document) => within.querySelectorAll(selector);

  // Times: the server writes UTC.
  // The order is that of ISO 8601, whatever the language; a date and the clock of the page have the zone.
  const iso8601 = (parts) => new Intl.DateTimeFormat("sv-SE", parts);
  const hour = { hour: "2-digit", minute: "2-digit" };
  const zoned = new Intl.DateTimeFormat("en", { timeZoneName: "short" });
  const withZone = (format) => ({ format: (at) => `${format.format(at)} ${zoned.formatToParts(at).find((p) => p.type === "timeZoneName").value}` });
  const full = withZone(iso8601({ dateStyle: "short", timeStyle: "medium" }));
  const clock = iso8601({ timeStyle: "medium" });
  const pageClock = withZone(clock);
  const short = iso8601(hour);
  const day = iso8601({ month: "2-digit", day: "2-digit", ...hour });
  const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "narrow" });
  let now = 0; // of the page, and when it came
  let came = performance.now();
  const present = () => (follows() ? now + performance.now() - came : now);
  const ago = (at) => {
    const seconds = (at - present()) / 1000;
    for (const [unit, size] of [["day", 86400], ["hour", 3600], ["minute", 60]])
      if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
    return relative.format(Math.round(seconds), "second");
  };
  function times(within = document) {
    for (const t of all("time[data-style]", within)) {
      const at = new Date(t.dateTime);
      const text = t.dataset.style === "ago" ? ago(at) : t.dataset.style === "clock" ? (t.closest("#asof") ? pageClock : clock).format(at) : full.format(at);
      if (t.textContent !== text) t.textContent = text;
      if (t.dataset.style !== "full") t.title = full.format(at);
    }
    for (const t of all("[data-time]", within)) t.textContent = (t.dataset.day ? day : t.dataset.second ? clock : short).format(Number(t.dataset.time));
  }

  const bound = new WeakSet(); // elements that listen

  // Colours: those of the system unless the person has chosen.
  // The button is that of the page before when a page is exchanged, with the attributes of the fresh one.
  function theme() {
    const button = $("#theme");
    const dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const show = () => { button.textContent = dark() ? "Light" : "Dark"; };
    button.hidden = false;
    show();
    if (bound.has(button)) return;
    bound.add(button);
    button.addEventListener("click", () => {
      document.documentElement.dataset.theme = dark() ? "light" : "dark";
      try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* for this page only */ }
      show();
    });
  }

  // What a person has typed, marked or opened stays when the page changes under it.
  Object.assign(Idiomorph.defaults.callbacks, {
    beforeNodeMorphed(old, fresh) {
      if (old.nodeType !== Node.ELEMENT_NODE) return true;
      if (old.matches("#pace")) return false;
      if (old.matches("time[data-style]")) return old.dateTime !== fresh.dateTime;
      if (old.matches("[data-time]")) return old.dataset.time !== fresh.dataset.time;
      return !(following && old.matches("input, select, textarea"));
    },
    beforeAttributeUpdated(name, node) { return !(name === "open" && node.tagName === "DETAILS"); },
  });

  // A page that follows the cell: the server sends it anew when it changes. A tab that is not seen does not hold a connection.
  let source = null;
  let following = false; // the morph is of the stream
  const follows = () => Boolean($("#page").dataset.live);
  function follow() {
    if (source) source.close();
    source = null;
    if (!follows() || document.hidden) return;
    const stream = source = new EventSource($("#page").dataset.live);
    stream.addEventListener("main", (e) => {
      following = true;
      Idiomorph.morph($("#main"), e.data, { morphStyle: "innerHTML", ignoreActiveValue: true });
      following = false;
      htmx.process($("#main"));
      times($("#main"));
      select();
      scrollers();
    });
    stream.addEventListener("now", (e) => {
      const it = JSON.parse(e.data);
      moment(it.now);
      $("#seq").textContent = it.seq;
      $("#asof").textContent = pageClock.format(it.now);
      mark("Live", true);
    });
    stream.addEventListener("end", (e) => { stream.close(); mark("Stopped", false); note(e.data); checkSession(); });
    stream.addEventListener("error", () => {
      mark("Reconnecting", false);
      if (stream.readyState === EventSource.CLOSED) { checkSession(); setTimeout(() => { if (source === stream && !ended) follow(); }, 2000); }
    });
  }
  // A session that has ended is not reconnected: a person logs in, and is back at this page.
  let ended = false;
  async function checkSession() {
    let status = 0;
    try { status = (await fetch("/v1/session", { cache: "no-store" })).status; } catch { return; } // it does not answer now
    if (ended && status === 200) { location.reload(); return; } // another tab has logged in
    if (status !== 401) return;
    ended = true;
    if (source) source.close();
    mark("Logged out", false);
    const link = document.createElement("a");
    link.href = location.href;
    link.textContent = "Log in";
    $("#note").replaceChildren("The session has ended. ", link);
  }
  function mark(text, well) {
    const badge = $("#livebadge");
    if (!badge || badge.textContent === text) return;
    badge.textContent = text;
    badge.classList.toggle("error", !well);
    badge.classList.toggle("live", well);
  }
  function note(text) { $("#note").textContent = text; }
  function moment(at) { now = at; came = performance.now(); }

  // The time bar.
  function go(url) {
    return htmx.ajax("GET", url, { source: "#page", target: "#page", select: "#page", swap: "morph:outerHTML" });
  }
  function address(at) {
    const url = new URL(location.href);
    url.searchParams.delete("cursor");
    if (at) url.searchParams.set("at", at); else url.searchParams.delete("at");
    return url.pathname + url.search;
  }
  const iso = (ms) => new Date(ms).toISOString().replace(".000", "");
  const span = (bar) => [Date.parse(bar.dataset.begin), follows() ? present() : Date.parse(bar.dataset.present)];
  let playing = 0; // odd while the history is played
  async function visit(at) {
    const url = address(at);
    await go(url);
    history.replaceState(history.state, "", url);
  }
  async function play() {
    const step = 250; // milliseconds of ours
    for (const mine = ++playing; mine === playing;) {
      const bar = $(".timebar");
      const begun = performance.now();
      const to = Date.parse(bar.dataset.now) + Number($("#pace").value) * step;
      if (to >= span(bar)[1]) { playing++; await visit(""); return; }
      await visit(iso(to));
      await new Promise((done) => setTimeout(done, Math.max(step - (performance.now() - begun), 20)));
    }
  }
  function timebar() {
    const bar = $(".timebar");
    if (!bar) return;
    moment(Date.parse(bar.dataset.now));
    const slider = $("#slider"), button = $("#play"), begin = Date.parse(bar.dataset.begin);
    if (Number.isNaN(begin) || begin <= 0) return;
    slider.hidden = button.hidden = $("#pace").hidden = false;
    button.disabled = !bar.dataset.at;
    button.textContent = playing % 2 ? "Pause" : "Play";
    const place = (ms) => { const [from, to] = span(bar); return Math.round(1000 * Math.min(1, (ms - from) / Math.max(to - from, 1))); };
    slider.value = bar.dataset.at ? place(Date.parse(bar.dataset.now)) : 1000;
    slider.setAttribute("aria-valuetext", full.format(Date.parse(bar.dataset.now)));
    if (!bound.has(button)) { // the morph may have made another one, and left the slider
      bound.add(button);
      button.addEventListener("click", () => {
        if (playing % 2) { playing++; button.textContent = "Play"; return; }
        button.textContent = "Pause";
        play();
      });
    }
    if (bound.has(slider)) return;
    bound.add(slider);
    const chosen = () => { const [from, to] = span($(".timebar")); return from + (to - from) * slider.value / 1000; };
    slider.addEventListener("input", () => {
      $("#asof").textContent = full.format(chosen());
      slider.setAttribute("aria-valuetext", full.format(chosen()));
    });
    slider.addEventListener("change", () => visit(Number(slider.value) === 1000 ? "" : iso(chosen())));
  }

  // The output of a task that runs is followed in the page, which keeps the last part of it. A pause ends the request;
  // the next one goes on after what was received.
  const outputMost = 150000; // characters
  let tailing = null; // ends the request
  function tail() {
    const button = $("#tail");
    if (!button || !button.dataset.from || bound.has(button)) return;
    bound.add(button);
    button.hidden = false;
    const url = new URL(button.dataset.from, location.href);
    const stop = (text) => { if (tailing) tailing.abort(); tailing = null; button.textContent = text; };
    button.addEventListener("click", async () => {
      if (tailing) { stop("Go on"); return; }
      const mine = tailing = new AbortController();
      button.textContent = "Pause";
      const out = $("pre.output");
      const decoder = new TextDecoder();
      try {
        const answer = await fetch(url, { signal: mine.signal });
        if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
        if (answer.status === 200 && Number(answer.headers.get("Quill-Output-Offset")) < Number(url.searchParams.get("offset"))) out.textContent = ""; // it was truncated
        url.searchParams.set("offset", answer.headers.get("Quill-Output-Offset"));
        for (const reader = answer.body.getReader(); ;) {
          const { done, value } = await reader.read();
          if (done) break;
          if (mine !== tailing) return;
          url.searchParams.set("offset", Number(url.searchParams.get("offset")) + value.length);
          out.hidden = false;
          out.textContent = (out.textContent + decoder.decode(value, { stream: true })).slice(-outputMost);
          out.scrollTop = out.scrollHeight;
          out.scrollIntoView({ block: "end" });
        }
        stop("Follow");
        note("The task has ended.");
      } catch (e) {
        if (mine.signal.aborted) return;
        stop("Follow");
        note(e.message);
        checkSession();
      }
    });
  }

  // Selections: the box in the head marks all rows, and the buttons say how many are marked.
  function select() {
    for (const form of all("form[data-select]")) {
      const boxes = [...all("input[name=ref]", form)];
      const marked = boxes.filter((b) => b.checked).length;
      const whole = $("[data-all]", form);
      if (whole) {
        whole.hidden = false;
        whole.checked = marked > 0 && marked === boxes.length;
        whole.indeterminate = marked > 0 && marked < boxes.length;
      }
      const text = $("[data-marked]", form);
      if (text) text.textContent = marked ? `${marked} selected` : "None selected";
      for (const b of all("button[name=verb]", form)) b.disabled = marked === 0;
    }
  }
  document.addEventListener("change", (e) => {
    if (e.target.matches("[data-all]")) for (const b of all("input[name=ref]", e.target.form)) b.checked = e.target.checked;
    if (e.target.form?.matches("[data-select]")) select();
  });

  // Times are typed in the zone in which they are shown.
  function zones() {
    for (const form of all("form:has(input[name=at], input[name=since], input[name=from])")) {
      if ($("input[name=zone]", form)) continue;
      const field = document.createElement("input");
      Object.assign(field, { type: "hidden", name: "zone", value: Intl.DateTimeFormat().resolvedOptions().timeZone });
      form.append(field);
    }
  }

  // What is too wide to be seen as a whole can be moved with the keyboard.
  function scrollers() {
    for (const p of all(".panel, .broad, pre")) if (p.scrollWidth > p.clientWidth) p.tabIndex = 0;
  }

  function begin() { theme(); timebar(); times(); select(); scrollers(); zones(); tail(); follow(); }
  document.addEventListener("visibilitychange", () => { if (!ended) follow(); else if (!document.hidden) checkSession(); });
  document.addEventListener("htmx:afterSettle", begin);
  document.addEventListener("htmx:responseError", (e) => { playing += playing % 2; note(`The server answered ${e.detail.xhr.status}.`); });
  document.addEventListener("htmx:beforeSwap", (e) => { // pages that say what is wrong are pages
    if ((e.detail.xhr.getResponseHeader("Content-Type") || "").startsWith("text/html")) { e.detail.shouldSwap = true; e.detail.isError = false; }
  });
  setInterval(() => { if (follows()) times(); }, 1000);
  begin();
})();
