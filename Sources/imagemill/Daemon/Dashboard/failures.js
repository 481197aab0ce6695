// The failed sources: groups, filter, pages, and retries that answer where they were asked.
const failures = {page: null, offset: 0, revision: null, groupsShown: 8, asked: 0, answers: new Map(), moved: new Map(), total: 0};
// A source that was moved back stays in its place for a while, with its outcome.
const staying = 30000;

async function askForFailures() {
  const asked = ++failures.asked;
  const query = new URLSearchParams({inbox: $("filter-inbox").value, code: $("filter-code").value, search: $("filter-search").value, offset: failures.offset});
  try {
    const answer = await fetch("/api/failures?" + query);
    if (!answer.ok) throw new Error();
    const page = await answer.json();
    // A later question has its own answer.
    if (asked === failures.asked) { failures.page = page; failures.offset = page.offset; showFailures(); }
  } catch (error) {
    if (asked === failures.asked) failures.revision = null;
  }
}

function newFailures(all) {
  const total = Object.values(all.failures.counts).reduce((sum, value) => sum + value, 0);
  failures.total = total;
  if (failures.revision !== all.failures.revision) {
    failures.revision = all.failures.revision;
    askForFailures();
  } else showFailures();
}

function showFailures() {
  const page = failures.page;
  const section = $("failures-section");
  for (const [name, entry] of failures.moved) if (Date.now() - entry.since > staying && !entry.node?.contains(document.activeElement)) failures.moved.delete(name);
  for (const [key, answer] of failures.answers) if (answer.ended && Date.now() - answer.ended > staying) failures.answers.delete(key);
  const isEmpty = failures.total === 0 && !failures.moved.size && !failures.answers.size;
  if (!section.hidden && isEmpty && section.contains(document.activeElement)) return;
  section.hidden = isEmpty;
  if (!page || isEmpty) return;
  set($("failures-title"), failures.total ? count(failures.total, "source") + " failed" : "Nothing is in failed/ any more");
  showAnswer($("all-answer"), "all", page.groups);
  $("retry-all").hidden = failures.total === 0 && document.activeElement !== $("retry-all");
  showGroups(page);
  showFilters(page);
  const unlisted = page.total - page.listed;
  set($("matching"), (isFiltered() ? count(page.matching, "source") + " of " + number(page.listed) : "")
    + (unlisted > 0 ? (isFiltered() ? "; " : "") + number(unlisted) + " more are too many to be listed; Retry all takes them too" : ""));
  showRows(page);
  const isPaged = page.matching > page.failures.length || page.offset > 0;
  $("pager").hidden = !isPaged;
  set($("page"), number(page.offset + 1) + "–" + number(page.offset + page.failures.length) + " of " + number(page.matching));
  busy($("previous"), page.offset === 0);
  busy($("next"), page.offset + page.failures.length >= page.matching);
}

const isFiltered = () => Boolean($("filter-inbox").value || $("filter-code").value || $("filter-search").value);
const groupKey = group => group.inbox + "\u0000" + group.code;

function showGroups(page) {
  const known = new Set(page.groups.map(groupKey));
  // A group that was retried as a whole stays with its answer.
  const kept = [...failures.answers.values()].filter(answer => answer.group && !known.has(groupKey(answer.group))).map(answer => ({...answer.group, count: 0}));
  const groups = [...page.groups, ...kept];
  $("groups").hidden = groups.length < 2 && !kept.length && !(groups.length === 1 && groups[0].count > 1);
  const all = groups.slice(0, failures.groupsShown).concat(groups.slice(failures.groupsShown).filter(group => failures.answers.has(groupKey(group))));
  list($("groups"), all, groupKey, group => {
    const node = element("li", "", [element("div", "what", [element("p", "group-title"), element("p", "quiet remedy")]), element("div", "buttons"), element("div", "answer")]);
    node.lastChild.setAttribute("role", "status");
    const show = button("Show", () => {
      const isShown = show.getAttribute("aria-pressed") === "true";
      $("filter-inbox").value = isShown ? "" : node.group.inbox;
      $("filter-code").value = isShown ? "" : node.group.code;
      filter();
    });
    const again = button("Retry these", () => retry({select: {inbox: node.group.inbox, code: node.group.code}}, again, groupKey(node.group), node.group));
    node.querySelector(".buttons").append(show, again);
    return node;
  }, (node, group) => {
    node.group = group;
    const [show, again] = node.querySelectorAll("button");
    const words = shown(group.code) + " in " + shown(group.inbox);
    set(node.querySelector(".group-title"), number(group.count) + " × " + words + (group.latest ? ", the latest " + when(group.latest) : ""));
    set(node.querySelector(".remedy"), shown(group.remedy || "").replaceAll("`", ""));
    show.setAttribute("aria-pressed", String($("filter-inbox").value === group.inbox && $("filter-code").value === group.code));
    show.setAttribute("aria-label", "Show " + words);
    again.setAttribute("aria-label", "Retry these: " + words);
    again.hidden = group.count === 0 && document.activeElement !== again;
    showAnswer(node.querySelector(".answer"), groupKey(group), [group]);
  });
  const more = groups.length - failures.groupsShown;
  $("more-groups").hidden = more <= 0;
  set($("more-groups"), "Show " + count(more, "more group"));
}
$("more-groups").addEventListener("click", () => { failures.groupsShown = Infinity; showFailures(); $("groups").querySelectorAll("button")[16]?.focus(); });

function showFilters(page) {
  const inboxes = [...new Set(page.groups.map(group => group.inbox))].sort(), codes = [...new Set(page.groups.map(group => group.code))].sort();
  // The chosen filter stays, also when nothing matches it any more.
  for (const [values, select] of [[inboxes, $("filter-inbox")], [codes, $("filter-code")]])
    if (select.value && !values.includes(select.value)) values.push(select.value);
  options($("filter-inbox"), [["", "all"], ...inboxes.map(name => [name, shown(name)])]);
  options($("filter-code"), [["", "all"], ...codes.map(code => [code, shown(code)])]);
  $("filters").hidden = page.listed < 2 && !isFiltered();
}

function filter() {
  failures.offset = 0;
  askForFailures();
}
let typing = 0;
$("filter-inbox").addEventListener("change", filter);
$("filter-code").addEventListener("change", filter);
$("filter-search").addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(filter, 250); });
$("filters").addEventListener("submit", event => { event.preventDefault(); filter(); });
for (const [id, step] of [["previous", -1], ["next", 1]]) {
  $(id).addEventListener("click", () => {
    if ($(id).getAttribute("aria-disabled") === "true") return;
    failures.offset = Math.max(0, failures.page.offset + step * failures.page.size);
    askForFailures().then(() => $("matching").scrollIntoView({block: "nearest"}));
  });
}

function showRows(page) {
  const rows = page.failures.map(failure => ({failure}));
  const known = new Set(page.failures.map(failure => failure.name));
  for (const [name, entry] of [...failures.moved].sort((one, other) => one[1].index - other[1].index))
    if (!known.has(name)) rows.splice(Math.min(entry.index, rows.length), 0, {failure: entry.failure, entry});
  list($("failures"), rows, row => row.failure.name, row => {
    const node = element("li", "", [element("canvas", "preview"), element("div", "what", [element("bdi"), element("p", "reason"), element("p", "quiet remedy")]),
      element("p", "quiet facts"), element("div", "buttons"), element("div", "answer")]);
    node.lastChild.setAttribute("role", "status");
    const again = button("Retry", () => retry({names: [row.failure.name]}, again, row.failure.name));
    const original = element("a", "button", ["Original"]);
    original.href = "/api/failures/original?name=" + encodeURIComponent(row.failure.name);
    original.download = "";
    node.querySelector(".buttons").append(original, again);
    return node;
  }, (node, {failure, entry}) => {
    node.failure = failure;
    const name = shown(failure.inbox + "/" + failure.path);
    set(node.querySelector("bdi"), name);
    set(node.querySelector(".reason"), failure.message ? shown(failure.code + ": " + failure.message) : "no reason was recorded");
    const facts = [failure.attempts ? "attempt " + failure.attempts : "", failure.stage ? "stage " + shown(failure.stage) : "",
      failure.bytes === undefined ? "a set" : amount(failure.bytes)].filter(Boolean).join(", ");
    const key = failure.time + facts;
    const line = node.querySelector(".facts");
    if (line.dataset.key !== key) {
      line.dataset.key = key;
      line.replaceChildren(...(failure.time ? ["failed ", timeElement(failure.time), facts ? ", " : ""] : []), facts);
    }
    showPreview(node.querySelector("canvas"), failure);
    // A group says it once for all.
    set(node.querySelector(".remedy"), $("groups").hidden ? shown(failure.remedy || "").replaceAll("`", "") : "");
    const [original, again] = [node.querySelector("a"), node.querySelector("button")];
    again.setAttribute("aria-label", "Retry " + name);
    original.setAttribute("aria-label", "Original of " + name);
    original.hidden = Boolean(entry) || failure.bytes === undefined;
    const isHere = !entry;
    if (isHere) busy(again, failures.answers.get(failure.name)?.isPending || false);
    else busy(again, true);
    const moved = failures.moved.get(failure.name);
    if (moved) moved.node = node;
    // It is here again, with another note.
    if (isHere && moved && failure.time && failure.time !== moved.failure.time) {
      failures.moved.delete(failure.name);
      failures.answers.set(failure.name, {text: "failed again at " + when(failure.time), isBad: true, ended: Date.now()});
    }
    showAnswer(node.querySelector(".answer"), failure.name);
  });
}

// Small pictures of failed sources, made by a worker one after the other. A source of which there is none has no place for one.
const previews = {queue: [], isBusy: false};
function showPreview(node, failure) {
  const key = failure.name + "\u0000" + failure.time;
  if (node.dataset.key === key) return;
  node.dataset.key = key;
  node.setAttribute("aria-hidden", "true");
  node.width = node.height = 1;
  node.hidden = !failure.isShown;
  if (!failure.isShown) return;
  previews.queue.push({node, key, name: failure.name, attempts: 3});
  if (!previews.isBusy) askForPreviews();
}

async function askForPreviews() {
  previews.isBusy = true;
  for (let next; next = previews.queue.shift();) {
    const {node, key, name} = next;
    if (!node.isConnected || node.dataset.key !== key) continue;
    try {
      const answer = await fetch("/api/failures/picture?name=" + encodeURIComponent(name));
      // Another one is being made, for somebody else or one that takes long.
      if (answer.status === 503 && --next.attempts) {
        await new Promise(resolve => setTimeout(resolve, 1000));
        previews.queue.push(next);
        continue;
      }
      if (answer.status !== 200) throw new Error();
      const picture = await createImageBitmap(await answer.blob());
      if (node.dataset.key !== key) continue;
      [node.width, node.height] = [picture.width, picture.height];
      node.getContext("2d").drawImage(picture, 0, 0);
    } catch (error) {
      if (node.dataset.key === key) node.hidden = true;
    }
  }
  previews.isBusy = false;
}

const latestOf = groups => groups.map(group => group.latest || "").sort().at(-1) || "";

// The outcome of several sources that were moved back.
function sinceThen(answer, groups) {
  const failed = groups.reduce((sum, group) => sum + group.count, 0);
  if (!failed || latestOf(groups) === answer.before) return "";
  return answer.isBad ? "; some failed again, the latest at " + when(latestOf(groups)) : "; " + number(failed) + " failed again";
}

// The answer to a retry, where it was asked for; of several sources, with the groups that they are in.
function showAnswer(node, key, groups) {
  const answer = failures.answers.get(key);
  const again = answer?.ended && groups ? sinceThen(answer, groups) : "";
  const text = !answer ? "" : answer.isPending && answer.progress ? "moved " + number(answer.progress.moved) + " of " + number(answer.progress.wanted) : answer.text + again;
  let bar = node.querySelector("progress");
  if (answer?.isPending && answer.progress) {
    if (!bar) { bar = element("progress"); bar.setAttribute("aria-label", "Retry"); node.prepend(bar); }
    bar.max = answer.progress.wanted || 1;
    bar.value = answer.progress.moved + answer.progress.refused;
  } else bar?.remove();
  let words = node.querySelector("span");
  if (!words && text) { words = element("span"); node.append(words); }
  if (words && !text) words.remove(); else if (words) { set(words, text); words.className = answer.isBad || again ? "bad" : ""; }
}

async function retry(what, node, key, group) {
  busy(node, true);
  const answer = {text: "moving back …", isPending: true, group, before: latestOf(group ? [group] : failures.page.groups)};
  failures.answers.set(key, answer);
  showFailures();
  const watch = what.names ? 0 : setInterval(async () => {
    try {
      const progress = (await (await fetch("/api/retry")).json()).count;
      if (answer.isPending && progress) { answer.progress = progress; showFailures(); }
    } catch (error) { /* The answer says it. */ }
  }, 500);
  try {
    const reply = await post("/api/retry", what);
    if (reply.ok) reply.message += " to the inbox at " + when(Date.now());
    answer.text = sentence(reply);
    answer.isBad = !reply.ok;
    if (reply.ok && what.names) {
      const index = failures.page.failures.findIndex(failure => failure.name === what.names[0]);
      if (index >= 0) failures.moved.set(what.names[0], {failure: failures.page.failures[index], index, since: Date.now()});
    }
  } catch (error) {
    answer.text = "The daemon does not answer.";
    answer.isBad = true;
  }
  clearInterval(watch);
  answer.isPending = false;
  answer.ended = Date.now();
  busy(node, false);
  askForFailures();
}
$("retry-all").addEventListener("click", event => { if (event.currentTarget.getAttribute("aria-disabled") !== "true") retry({all: true}, event.currentTarget, "all"); });
