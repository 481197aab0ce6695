// The connection to the daemon: what it says, and whether it says anything.
let latest = null, lastWord = performance.now(), lastTime = null, notice = "", spokenLevel = "";
// The daemon sends an event each two seconds.
const silence = 8000, giveUp = 20000, betweenQuestions = 5000, questionsBeforeListening = 6;
const signs = {good: "●", attention: "▲", trouble: "■", unknown: "?"};
const pause = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));
// They are there before they are needed: a daemon that is gone sends none.
const icons = {good: "/icon.svg", attention: "/icon-attention.svg", trouble: "/icon-trouble.svg", unknown: "/icon-unknown.svg"};
for (const icon of Object.values(icons)) new Image().src = icon;

function announce(level, text) {
  if (document.body.dataset.level !== level) document.body.dataset.level = level;
  set($("headline"), signs[level] + " " + text);
  const title = (level === "good" ? "" : signs[level] + " " + text + " – ") + "Imagemill";
  if (document.title !== title) document.title = title;
  const icon = document.querySelector("link[rel=icon]");
  if (icon.getAttribute("href") !== icons[level]) icon.href = icons[level];
  // Not every picture is worth a word.
  if (spokenLevel !== level) { spokenLevel = level; set($("spoken"), text); }
}

function tick() {
  const quiet = performance.now() - lastWord;
  if (quiet < silence) return;
  announce("unknown", latest ? "No answer for " + span(quiet / 1000) + "; what is shown is as of " + when(lastTime) : "The daemon does not answer");
  set($("as-of"), notice);
}
setInterval(tick, 1000);

function show(all) {
  latest = all;
  lastWord = performance.now();
  lastTime = Date.now();
  const status = all.status;
  announce(all.headline.level, all.headline.sentence);
  set($("as-of"), notice || "as of " + when(lastTime));
  showTiles(all);
  set($("facts"), "version " + shown(status.version) + ", up for " + span(status["uptime-seconds"]) + "; " + status.workers.busy + " of "
    + count(status.workers.total, "worker") + " busy" + (all.eta === undefined ? "" : "; the queue will be done in about " + span(all.eta)) + "; memory " + amount(status.memory["reserved-bytes"]) + " of " + amount(status.memory["budget-bytes"]) + " reserved");
  $("refused").hidden = status.reload.state !== "refused";
  list($("refused-lines"), status.reload.diagnostics.map((text, index) => ({text, index})), line => line.index, () => element("li", "path"),
    (node, line) => set(node, shown(line.text)));
  showPaused(all);
  newFailures(all);
  showHooks(status.hooks);
  showInboxes(all);
  showRunning(status);
  askForHistory();
  showPlot(all);
  showResults(all);
  showDisks(status.disks || []);
  showEvents(all.events);
}

function showTiles(all) {
  const inboxes = all.status.inboxes;
  const sum = key => inboxes.reduce((total, inbox) => total + inbox[key], 0);
  const failed = Object.values(all.failures.counts).reduce((total, value) => total + value, 0);
  // Some folders may not be known.
  const least = inboxes.every(inbox => inbox.name in all.failures.counts) ? "" : failed ? number(failed) + "+" : "?";
  const tiles = [["paused", inboxes.filter(inbox => inbox.paused).length, "#paused-section", "bad"], ["failed", failed, "#failures-section", "bad", least],
    ["blocked", sum("blocked"), "#inboxes-section", "bad"], ["queued", all.status.queue.depth, "#inboxes-section", ""],
    ["settling", sum("settling"), "#inboxes-section", ""], ["running", all.status.workers.busy, "#running-section", ""]];
  list($("tiles"), tiles, tile => tile[0], () => element("a", "", [element("b"), element("span")]), (node, [name, value, target, color, text]) => {
    node.setAttribute("href", value ? target : "#inboxes-section");
    node.className = value ? color : "zero";
    set(node.querySelector("b"), text || number(value));
    set(node.querySelector("span"), name);
  });
}

// Reads the stream until it ends or is silent for too long.
async function read(stream, abort) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const watch = setInterval(() => { if (performance.now() - lastWord > giveUp) abort.abort(); }, 1000);
  let text = "";
  try {
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      // The last of several that came at once says it all.
      if (events.length) show(JSON.parse(events.pop().slice("data: ".length)));
    }
  } finally {
    clearInterval(watch);
  }
}

// Asks now and then, if the daemon has no place for one more who listens.
async function ask() {
  for (let question = 0; question < questionsBeforeListening; question++) {
    const answer = await fetch("/api/dashboard");
    if (answer.ok) show(await answer.json());
    await pause(betweenQuestions);
  }
}

async function listen() {
  for (;;) {
    try {
      const abort = new AbortController();
      const answer = await fetch("/api/events", {signal: abort.signal});
      if (answer.ok) {
        notice = "";
        lastWord = performance.now();
        await read(answer.body, abort);
      } else {
        notice = shown((await answer.json()).message);
        await ask();
      }
    } catch (error) { /* Whether it answers is what the clock says. */ }
    await pause(2000);
  }
}
listen();
