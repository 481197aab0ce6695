"use strict";
// Names of files and messages are anybody's: they only ever become text, and what would turn or break a line is shown.
const shown = text => String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
  c => "\\u{" + c.codePointAt(0).toString(16).toUpperCase() + "}");
const $ = id => document.getElementById(id);
const set = (node, text) => { if (node.textContent !== text) node.textContent = text; };
const element = (name, className, parts = []) => {
  const node = document.createElement(name);
  if (className) node.className = className;
  node.append(...parts);
  return node;
};
const svg = (name, attributes) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  return node;
};
const button = (words, act) => {
  const node = element("button", "", [words]);
  node.type = "button";
  // A button that is at work keeps the focus, so it is not disabled.
  node.addEventListener("click", () => { if (node.getAttribute("aria-disabled") !== "true") act(node); });
  return node;
};
const busy = (node, isBusy) => node.setAttribute("aria-disabled", String(isBusy));
const number = value => value.toLocaleString("en");
const count = (value, noun, plural) => number(value) + " " + (value === 1 ? noun : plural || noun + "s");
const span = seconds => seconds < 60 ? Math.max(0, Math.floor(seconds)) + " s" : seconds < 3600 ? Math.floor(seconds / 60) + " min"
  : seconds < 86400 ? Math.floor(seconds / 3600) + " h " + Math.floor(seconds / 60 % 60) + " min"
  : Math.floor(seconds / 86400) + " d " + Math.floor(seconds / 3600 % 24) + " h";
const amount = bytes => bytes < 1024 ? bytes + " B" : bytes < 1 << 20 ? Math.round(bytes / 1024) + " KiB"
  : bytes < 2 ** 30 ? Math.round(bytes / 2 ** 20) + " MiB" : (bytes / 2 ** 30).toFixed(1) + " GiB";
// Local time, with the day if it is not today's.
const when = time => {
  const date = new Date(time), clock = date.toLocaleTimeString("en-GB");
  return date.toDateString() === new Date().toDateString() ? clock
    : date.toLocaleDateString("en-GB", {day: "numeric", month: "short", year: date.getFullYear() === new Date().getFullYear() ? undefined : "numeric"}) + ", " + clock;
};
const timeElement = time => {
  const node = element("time", "", [when(time)]);
  node.dateTime = time;
  node.title = time;
  return node;
};

// Keeps the elements of a list that are still wanted, so that focus stays where it is.
function list(parent, items, key, make, fill) {
  const known = new Map([...parent.children].map(node => [node.dataset.key, node]));
  let place = parent.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    const node = known.get(name) || make(item);
    node.dataset.key = name;
    known.delete(name);
    // An element that is moved loses the focus: those before it move instead.
    if (node !== place && node.contains(document.activeElement))
      while (place && place !== node) { const next = place.nextElementSibling; parent.append(place); place = next; }
    if (node !== place) parent.insertBefore(node, place); else place = place.nextElementSibling;
    fill(node, item);
  }
  for (const node of known.values()) node.remove();
}

// A new list of options, and the one that was chosen.
function options(select, values) {
  const key = JSON.stringify(values);
  if (select.dataset.key === key) return;
  select.dataset.key = key;
  const chosen = select.value;
  select.replaceChildren(...values.map(([value, words]) => {
    const option = element("option", "", [words]);
    option.value = value;
    return option;
  }));
  select.value = values.some(([value]) => value === chosen) ? chosen : "";
}

// Asks the daemon to do something.
async function post(path, body) {
  const answer = await fetch(path, {method: "POST", headers: {"X-Imagemill": "1", "Content-Type": "application/json"}, body: JSON.stringify(body)});
  return answer.json();
}
const sentence = reply => shown(reply.message) + (reply.details.length ? ": " + reply.details.slice(0, 5).map(shown).join("; ")
  + (reply.details.length > 5 ? "; and " + number(reply.details.length - 5) + " more" : "") : "");
