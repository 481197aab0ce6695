// The buttons of an operator: pause and resume, read the configuration again; and the disks and events to decide by.
let eventsShown = 6;

function showDisks(disks) {
  list($("disks"), disks, disk => disk.path.path, () => element("li", "", [element("div", "what", [element("bdi"), element("p", "")]), element("meter")]), (node, disk) => {
    set(node.querySelector("bdi"), shown(disk.path.path));
    const isLow = disk["nearly-full"], [free, total] = [disk["free-bytes"], disk["total-bytes"]];
    set(node.querySelector("p"), (isLow ? "▲ nearly full: " : "") + amount(free) + " of " + amount(total) + " free");
    node.querySelector("p").className = isLow ? "warn" : "quiet";
    const meter = node.querySelector("meter");
    meter.setAttribute("aria-label", "used of " + shown(disk.path.path));
    meter.max = total;
    meter.high = total * .95;
    meter.optimum = 0;
    meter.value = total - free;
  });
}

function showEvents(events) {
  list($("events"), events.slice(0, eventsShown), event => event.number, event =>
    element("li", "", [timeElement(event.time), element("div", "what", [element("bdi", "", [(event.inbox === undefined ? "" : shown(event.inbox) + ": ") + shown(event.sentence)])])]),
    (node, event) => set(node.querySelector("time"), when(event.time)));
  $("more-events").hidden = events.length <= eventsShown;
  set($("more-events"), "Show " + count(events.length - eventsShown, "more event"));
}
$("more-events").addEventListener("click", () => {
  eventsShown = Infinity;
  showEvents(latest.events);
  $("events").tabIndex = -1;
  $("events").focus();
});

// The events that hooks did not hear of in the last 24 hours, and never will.
function showHooks(hooks) {
  $("hooks-section").hidden = hooks.lost === 0;
  set($("hooks-title"), "Lost events of hooks: " + number(hooks.lost) + " in the last 24 hours");
  list($("hooks"), hooks.latest, loss => JSON.stringify([loss.time, loss.inbox, loss.message]), loss =>
    element("li", "", [timeElement(loss.time), element("div", "what", [element("bdi", "", [shown(loss.inbox) + ": " + shown(loss.message)]),
      element("p", "quiet", ["What to do: " + shown(loss.remedy)])])]),
    (node, loss) => set(node.querySelector("time"), when(loss.time)));
}

// A button that pauses an inbox or ends that, and its answer.
function pauseControls() {
  const answer = element("span", "");
  answer.setAttribute("role", "status");
  const control = button("Pause", async () => {
    const inbox = control.inbox;
    busy(control, true);
    try {
      const resumes = inbox["paused-by-request"];
      // The next state of the daemon may come before the answer.
      if (resumes && control.closest("#paused")) resumed.set(inbox.name, Date.now());
      const reply = await post(resumes ? "/api/resume" : "/api/pause", {inbox: inbox.name});
      set(answer, sentence(reply));
      answer.className = reply.ok ? "" : "bad";
    } catch (error) {
      set(answer, "The daemon does not answer.");
      answer.className = "bad";
    }
    busy(control, false);
  });
  return element("div", "buttons pausing", [control, answer]);
}

function fillPauseControls(node, inbox) {
  const control = node.querySelector("button");
  control.inbox = inbox;
  set(control, inbox["paused-by-request"] ? "Resume" : "Pause");
  control.setAttribute("aria-label", (inbox["paused-by-request"] ? "Resume " : "Pause ") + shown(inbox.name));
  node.hidden = inbox.state === "leaving";
}

$("reload").addEventListener("click", async event => {
  const node = event.currentTarget;
  if (node.getAttribute("aria-disabled") === "true") return;
  busy(node, true);
  set($("reload-answer"), "reading …");
  try {
    const reply = await post("/api/reload", {});
    set($("reload-answer"), sentence(reply));
    $("reload-answer").className = reply.ok ? "" : "bad";
    if (!$("configuration").hidden) showConfiguration();
  } catch (error) {
    set($("reload-answer"), "The daemon does not answer.");
    $("reload-answer").className = "bad";
  }
  busy(node, false);
});

async function showConfiguration() {
  try {
    const answer = await fetch("/api/configuration");
    // Its lines are its own; what would turn them is shown.
    set($("configuration"), (await answer.text()).split("\n").map(shown).join("\n"));
  } catch (error) {
    set($("configuration"), "The daemon does not answer.");
  }
}
$("show-configuration").addEventListener("click", () => {
  const isHidden = !$("configuration").hidden;
  $("configuration").hidden = isHidden;
  $("show-configuration").setAttribute("aria-expanded", String(!isHidden));
  set($("show-configuration"), isHidden ? "Show" : "Hide");
  if (!isHidden) showConfiguration();
});
