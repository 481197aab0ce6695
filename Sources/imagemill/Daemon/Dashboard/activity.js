// Running jobs, latest results, and the plot of an hour, a day and a week.
const spans = [["hour", "hour", "The last hour"], ["day", "24 h", "The last 24 hours"], ["week", "7 days", "The last 7 days"]];
const plot = {span: "hour", history: null, asked: 0};
for (const [key, words] of spans) {
  const choice = button(words, () => { plot.span = key; askForHistory(); showPlot(latest); });
  choice.dataset.span = key;
  $("plot-spans").append(choice);
}
$("plot-inbox").addEventListener("change", () => {
  // The last hour is known of all together only.
  if ($("plot-inbox").value && plot.span === "hour") plot.span = "day";
  askForHistory();
  showPlot(latest);
});

// The ledger is asked when somebody looks at it, and once a minute then.
async function askForHistory() {
  if (plot.span === "hour" || performance.now() - plot.asked < 60000 && plot.history) return;
  plot.asked = performance.now();
  try {
    const answer = await fetch("/api/history");
    if (answer.ok) { plot.history = await answer.json(); showPlot(latest); }
  } catch (error) { /* The next minute may be better. */ }
}

// The parts of the time that is chosen, each with what was done and has failed in it.
function parts(all) {
  if (plot.span === "hour") return all.minutes.slice();
  if (!plot.history) return [];
  const chosen = $("plot-inbox").value;
  const inboxes = Object.entries(plot.history.inboxes).filter(([name]) => !chosen || name === chosen).map(entry => entry[1]);
  const length = 168, wanted = plot.span === "day" ? 24 : length;
  return Array.from({length: wanted}, (_, index) => {
    const hour = length - wanted + index;
    return {done: inboxes.reduce((sum, inbox) => sum + inbox.done[hour], 0), failed: inboxes.reduce((sum, inbox) => sum + inbox.failed[hour], 0)};
  });
}

function sinceStart(all) { return span(all.status["uptime-seconds"]) + " ago"; }

function showPlot(all) {
  if (!all) return;
  for (const choice of $("plot-spans").children) choice.setAttribute("aria-pressed", String(choice.dataset.span === plot.span));
  options($("plot-inbox"), [["", "all"], ...all.status.inboxes.map(inbox => [inbox.name, shown(inbox.name)]).sort()]);
  $("plot-inbox").parentElement.hidden = all.status.inboxes.length < 2;
  if (plot.span === "hour" && $("plot-inbox").value) $("plot-inbox").value = "";
  // The hours of the ledger are there after a restart; the minutes are not.
  const title = spans.find(span => span[0] === plot.span)[2];
  set($("plot-title"), plot.span === "hour" && all.status["uptime-seconds"] < 3600 ? "Since the start, " + sinceStart(all) : title);
  const bars = parts(all);
  const done = bars.reduce((sum, part) => sum + part.done, 0), failed = bars.reduce((sum, part) => sum + part.failed, 0);
  const highest = Math.max(0, ...bars.map(part => part.done + part.failed));
  const most = Math.max(1, highest);
  set($("plot-words"), bars.length ? number(done) + " done and " + number(failed) + " failed; at most " + number(highest) + " in one " + (plot.span === "hour" ? "minute" : "hour") : "Asking the ledger …");
  const key = JSON.stringify([plot.span, bars]);
  if ($("plot").dataset.key === key) return;
  $("plot").dataset.key = key;
  set($("plot-most"), number(most));
  set($("plot-start"), {hour: "60 min ago", day: "24 h ago", week: "7 days ago"}[plot.span]);
  const stripes = svg("pattern", {id: "stripes", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"});
  stripes.append(svg("rect", {width: 6, height: 6, class: "stripe-back"}), svg("line", {x1: 0, x2: 0, y1: 0, y2: 6, class: "stripe"}));
  const shapes = [stripes, svg("line", {x1: 0, x2: 600, y1: .5, y2: .5, class: "guide"}), svg("line", {x1: 0, x2: 600, y1: 99.5, y2: 99.5, class: "axis"})];
  const width = 600 / (bars.length || 1), gap = Math.min(2, width / 4);
  bars.forEach((part, index) => {
    const heights = [part.done / most * 98, part.failed / most * 98];
    if (part.done) shapes.push(svg("rect", {x: index * width + gap / 2, width: width - gap, y: 99 - heights[0], height: heights[0], class: "done-bar"}));
    if (part.failed) shapes.push(svg("rect", {x: index * width + gap / 2, width: width - gap, y: 99 - heights[0] - heights[1], height: heights[1], class: "failed-bar"}));
  });
  $("plot").replaceChildren(...shapes);
}

function showRunning(status) {
  const names = new Map(status.inboxes.map(inbox => [inbox.path.path, inbox.name]));
  $("no-running").hidden = status["in-progress"].length > 0;
  list($("running"), status["in-progress"], job => job.job, () => element("li", "", [element("div", "what", [element("bdi"), element("p", "quiet")])]), (node, job) => {
    set(node.querySelector("bdi"), shown((names.get(job.inbox.path) || job.inbox.path) + "/" + job.path.path));
    set(node.querySelector("p"), shown(job.stage) + ", " + span(job.seconds) + (job.attempt > 1 ? ", attempt " + job.attempt : ""));
  });
}

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

function thumbnail(result) {
  const file = result.renditions[result.picture];
  const address = "/api/results/" + result.number + "/renditions/" + result.picture;
  if (!file) return element("div", "thumb", ["no preview"]);
  const thumb = element("a", "thumb");
  thumb.href = address;
  thumb.setAttribute("aria-label", "Open " + shown(file.name));
  if (file.isAnimated && stillness.matches) { thumb.append("an animation"); return thumb; }
  const picture = element("img");
  picture.alt = "";
  picture.loading = "lazy";
  picture.src = address;
  // A server that has much to do may refuse one; it is gone if it is not there later either.
  picture.addEventListener("error", () => setTimeout(() => picture.src = address, 2000), { once: true });
  picture.addEventListener("error", () => picture.dataset.refused ? thumb.replaceWith(element("div", "thumb", ["gone"])) : picture.dataset.refused = "once");
  thumb.append(picture);
  return thumb;
}

function showResults(all) {
  const results = all.results;
  $("no-results").hidden = results.length > 0;
  const inbox = all.status.inboxes.find(inbox => !inbox.paused) || all.status.inboxes[0];
  set($("no-results"), "None since the start, " + sinceStart(all) + "." + (inbox ? " Drop a picture into " + shown(inbox.path.path) + "." : ""));
  list($("results"), results, result => result.number, result => {
    const files = element("ul", "files", result.renditions.map((file, index) => {
      const link = element("a", "", [shown(file.name)]);
      link.href = "/api/results/" + result.number + "/renditions/" + index;
      if (!file.isShown) link.download = "";
      return element("li", "", [link, element("p", "quiet", [file.size + (file.bytes === undefined ? "" : ", " + amount(file.bytes))])]);
    }));
    const details = element("details", "", [element("summary", "", [count(result.renditions.length, "rendition")]), files]);
    const warnings = result.warnings.map(warning => element("p", "warn", [shown(warning.code + ": " + warning.message)]));
    return element("li", "card", [element("figure", "", [thumbnail(result),
      element("figcaption", "", [element("bdi"), element("p", "quiet"), ...warnings, details])])]);
  }, (node, result) => {
    const name = shown(all.status.inboxes.length > 1 ? result.inbox + "/" + result.path : result.path);
    set(node.querySelector("bdi"), name);
    node.querySelector("bdi").title = name;
    set(node.querySelector("p"), when(result.time) + ", " + (result.milliseconds / 1000).toFixed(1) + " s");
  });
}
