// The inboxes, sorted by trouble, and those that are paused.
const figures = [["settling", "settling"], ["ready", "ready"], ["in-progress", "in progress"], ["waiting", "waiting"], ["blocked", "blocked"],
  ["done", "done"], ["failed-now", "in failed/"], ["passed-over", "left alone"]];
// Inboxes without trouble that are shown at first.
let quietShown = 12;
// Those that an operator has to see first. What comes and goes with each picture does not change the order.
const settling = entry => {
  const left = span(entry["seconds-left"]);
  return entry.reason === "changing" ? "changed a moment ago" : entry.reason === "empty" ? "0 bytes, fails in " + left : entry.reason + ", decoded anyway in " + left;
};
const rank = (inbox, failed) => inbox.paused ? inbox.paused.reason === "by-request" ? 1 : 0 : failed ? 2 : inbox.blocked ? 3 : inbox.state === "running" ? 5 : 4;

function showInboxes(all) {
  const failed = inbox => all.failures.counts[inbox.name];
  const sorted = [...all.status.inboxes].sort((one, other) => rank(one, failed(one)) - rank(other, failed(other)) || (one.name < other.name ? -1 : 1));
  let quiet = 0;
  const visible = sorted.filter(inbox => rank(inbox, failed(inbox)) < 4 || ++quiet <= quietShown);
  list($("inboxes"), visible, inbox => inbox.name, makeInbox, (node, inbox) => fillInbox(node, inbox, failed(inbox), all));
  $("more-inboxes").hidden = visible.length === sorted.length;
  set($("more-inboxes"), "Show all " + number(sorted.length) + " inboxes");
  set($("inboxes-title"), sorted.length > 1 ? count(sorted.length, "inbox", "inboxes") : "Inboxes");
}
$("more-inboxes").addEventListener("click", () => {
  quietShown = Infinity;
  const next = $("inboxes").childElementCount;
  showInboxes(latest);
  $("inboxes").children[next]?.querySelector("summary").focus();
});

function makeInbox() {
  const facts = element("dl", "numbers");
  for (const [key, words] of figures) {
    const value = element("dd");
    value.dataset.value = key;
    facts.append(element("div", "", [element("dt", "", [words]), value]));
  }
  const details = element("details", "", [
    element("summary", "", [element("bdi"), element("span", "how"), element("span", "figures")]),
    element("div", "more", [element("p", "message"), element("p", "quiet path"), facts, element("ul", "quiet notes"), pauseControls()])]);
  return element("li", "card inbox", [details]);
}

function fillInbox(node, inbox, failed, all) {
  set(node.querySelector("bdi"), shown(inbox.name));
  node.classList.toggle("trouble", Boolean(inbox.paused) && inbox.paused.reason !== "by-request");
  const how = node.querySelector(".how");
  how.className = "how " + (inbox.paused ? inbox.paused.reason === "by-request" ? "warn" : "bad" : inbox.state === "running" ? "good" : "warn");
  set(how, inbox.paused ? "■ paused (" + inbox.paused.reason + ")" : inbox.state === "running" ? "● watching" : "◌ leaving");
  const queued = inbox.ready + inbox["in-progress"] + inbox.waiting;
  set(node.querySelector(".figures"), [queued ? number(queued) + " queued" : "", inbox.settling ? number(inbox.settling) + " settling" : "",
    failed ? number(failed) + " failed" : "", inbox.blocked ? number(inbox.blocked) + " blocked" : "",
    inbox["oldest-seconds"] ? "oldest " + span(inbox["oldest-seconds"]) : ""].filter(Boolean).join(" · ") || number(inbox.done) + " done");
  node.querySelector(".figures").className = "figures " + (inbox.blocked || failed ? "bad" : queued || inbox.settling ? "" : "quiet");
  const message = node.querySelector(".message");
  message.className = "message " + (inbox.paused ? "bad" : "");
  set(message, inbox.paused ? shown(inbox.paused.message) : inbox.state === "running" ? "Watching by " + inbox.watching + "."
    : "It is not in the configuration any more; what it has begun is finished.");
  set(node.querySelector(".path"), shown(inbox.path.path) + " → " + shown(inbox.outbox.path) + " (" + shown(inbox.pipeline) + ")");
  for (const value of node.querySelectorAll("dd")) {
    const key = value.dataset.value;
    const figure = key === "failed-now" ? failed : inbox[key];
    set(value, figure === undefined ? "?" : figure === 0 ? "–" : number(figure));
    value.className = figure > 0 && (key === "failed-now" || key === "blocked") ? "bad" : figure ? "" : "nothing";
  }
  fillPauseControls(node.querySelector(".pausing"), inbox);
  const notes = [...inbox.obstacles.map(entry => "blocked: " + shown(entry.path.path) + ": " + shown(entry.message)),
    ...inbox["waiting-sources"].map(entry => "waiting: " + shown(entry.path.path) + ": " + entry.code + ": " + shown(entry.message) + "; tried again in " + span(entry["seconds-left"]) + ". " + entry.remedy),
    ...inbox["settling-sources"].map(entry => "settling: " + shown(entry.path.path) + ": " + settling(entry)),
    ...inbox["passed-over-files"].map(entry => "left alone: " + shown(entry.path.path) + ": " + shown(entry.message)),
    ...(inbox["passed-over"] > inbox["passed-over-files"].length ? ["and " + number(inbox["passed-over"] - inbox["passed-over-files"].length) + " more are left alone"] : [])];
  list(node.querySelector(".notes"), notes.map((text, index) => ({text, index})), line => line.index, () => element("li", "path"), (line, {text}) => set(line, text));
}

// When inboxes were resumed in the section of those that are paused: they stay there for a while, with the answer and the focus.
const resumed = new Map();
function staysAmongPaused(inbox) {
  if (!resumed.has(inbox.name)) return false;
  const node = [...$("paused").children].find(node => node.dataset.key === inbox.name);
  const stays = Date.now() - resumed.get(inbox.name) < staying || Boolean(node?.contains(document.activeElement));
  if (!stays) resumed.delete(inbox.name);
  return stays;
}

function showPaused(all) {
  // An inbox that a person has paused comes after those with trouble.
  const byRequest = inbox => !inbox.paused || inbox.paused.reason === "by-request";
  const paused = all.status.inboxes.filter(inbox => inbox.paused);
  const listed = all.status.inboxes.filter(inbox => inbox.paused || staysAmongPaused(inbox)).sort((one, other) => byRequest(one) - byRequest(other));
  const section = $("paused-section");
  section.hidden = !listed.length;
  $("paused").classList.toggle("failed-card", paused.some(inbox => !byRequest(inbox)));
  set($("paused-title"), paused.length ? count(paused.length, "inbox", "inboxes") + " paused" : "No inbox is paused any more");
  list($("paused"), listed, inbox => inbox.name, () => element("li", "", [element("div", "what", [element("bdi"), element("p", "reason"), element("p", "quiet since")]), pauseControls()]),
    (node, inbox) => {
      set(node.querySelector("bdi"), shown(inbox.name));
      fillPauseControls(node.querySelector(".pausing"), inbox);
      node.querySelector(".pausing").hidden = !inbox["paused-by-request"] && !resumed.has(inbox.name);
      if (!inbox.paused) { set(node.querySelector(".reason"), "goes on"); set(node.querySelector(".since"), ""); return; }
      set(node.querySelector(".reason"), inbox.paused.reason + ": " + shown(inbox.paused.message));
      const since = "since " + when(inbox.paused.since) + ", for " + span((Date.parse(all.time) - Date.parse(inbox.paused.since)) / 1000)
        + (inbox.paused.reason === "by-request" ? "" : "; it goes on by itself when the cause is gone"
          + (inbox["paused-by-request"] ? ", and after that when it is resumed: somebody has paused it too" : ""));
      set(node.querySelector(".since"), since);
    });
}
