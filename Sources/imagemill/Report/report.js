'use strict';
// Everything in the report is data: it reaches the page as text, never as markup.
const report = JSON.parse(document.getElementById('data').textContent);
const usual = new Set(report.usual);
const rows = report.rows.map(row => ({ ...row, serious: row.warnings.filter(one => !usual.has(one.code)) })).map((row, order) => ({
  ...row, order,
  total: row.times[0] + row.times[1] + row.times[2],
  after: row.renditions.reduce((sum, one) => sum + (one.bytes || 0), 0),
  problem: (row.error || row.serious[0] || {}).code || '',
  message: (row.error || row.serious[0] || {}).message || '',
  rank: row.error ? 0 : row.serious.length ? 1 : 2,
}));
for (const row of rows) row.label = row.rank === 1 ? 'warning' : row.status;
for (const row of rows) row.text = ((row.inbox ? row.inbox + '/' : '') + row.path + '\n' + row.problem + '\n' + row.message).toLowerCase();

const find = id => document.getElementById(id);

/** An element with attributes and children; texts become text. */
function make(name, attributes = {}, ...children) {
  const svg = ['svg', 'g', 'rect', 'line', 'text', 'title'].includes(name);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

const number = new Intl.NumberFormat('en');
function bytes(count) {
  if (!count) return '0 B';
  const unit = Math.min(4, Math.floor(Math.log2(count) / 10));
  return (count / 1024 ** unit).toFixed(unit && count / 1024 ** unit < 100 ? 1 : 0) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB'][unit];
}
/** Local time, as on the dashboard. */
const moment = text => Number.isNaN(Date.parse(text)) ? visible(text) : new Date(text).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const counted = (count, noun) => `${number.format(count)} ${noun}${count === 1 ? '' : 's'}`;
/** What is between backticks is a word of the program's. */
const prose = text => text.split('`').map((part, index) => index % 2 ? make('code', {}, part) : part);
/** A button that copies a text, and says so. */
function copying(text, name) {
  const copy = make('button', { class: 'plain', type: 'button', 'aria-label': 'Copy ' + name, onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch (error) {
      // Not every browser lets a file do it the new way.
      const area = make('textarea', {}, text);
      copy.after(area);
      area.select();
      document.execCommand('copy');
      area.remove();
      copy.focus();
    }
    copy.textContent = 'Copied';
    setTimeout(() => { copy.textContent = 'Copy path'; }, 2000);
  } }, 'Copy path');
  return copy;
}
function time(milliseconds) {
  if (milliseconds < 1000) return milliseconds + ' ms';
  if (milliseconds < 60000) return (milliseconds / 1000).toFixed(1) + ' s';
  return Math.floor(milliseconds / 60000) + ' min ' + Math.round(milliseconds % 60000 / 1000) + ' s';
}
const percent = row => row.bytes && row.after ? Math.round(row.after * 100 / row.bytes) + '%' : '';
/** Characters that reorder or hide others are shown as what they are. */
const visible = text => text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
  character => '\\u{' + character.codePointAt(0).toString(16) + '}');
const tally = (list, key) => list.reduce((counts, one) => counts.set(key(one), (counts.get(key(one)) || 0) + 1), new Map());
const sum = (list, value) => list.reduce((total, one) => total + value(one), 0);

// Summary

const words = [report.pipelines.map(visible).join(', '), report.started && 'begun ' + moment(report.started), report.engine];
find('about').textContent = words.filter(Boolean).join(' · ') + (report.unreadable ? ` · ${report.unreadable} entries could not be read` : '');
const states = tally(rows, row => row.status);
const finished = rows.filter(row => row.status === 'done');
// Renditions of earlier runs are there too.
const standing = rows.filter(row => row.status === 'done' || row.status === 'skipped');
// The page of a large batch has only some of its sources.
const totals = report.totals;
const cards = totals ? [
  ['Sources', number.format(totals.sources)], ['Done', number.format(totals.done)], ['Failed', number.format(totals.failed)],
  ['Renditions', number.format(totals.renditions)], ['After', bytes(totals.bytes)],
] : [
  ['Sources', number.format(rows.length)], ['Done', number.format(finished.length)], ['Failed', number.format(states.get('failed') || 0)],
  ['Unchanged', states.get('skipped')], ['Planned', states.get('planned')],
  ['With warnings', rows.filter(row => row.serious.length).length || null],
  ['Renditions', number.format(sum(standing, row => row.renditions.length))],
  ['Before', bytes(sum(standing, row => row.bytes || 0))], ['After', bytes(sum(standing, row => row.after))],
  ['Took', report.summary && time(report.summary.milliseconds)], ['Passed over', report.summary && report.summary['passed-over']],
  ['Stopped early', report.summary && report.summary.interrupted && 'yes'],
];
find('summary').append(...cards.filter(card => card[1]).map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, String(value)))));

find('summary').after(...report.notices.map(text => make('p', { class: 'notice' }, visible(text))));

// Failures and warnings

const problems = new Map();
function note(code, isFailure, message) {
  const known = problems.get(code) || { isFailure, count: 0, message };
  known.count += 1;
  problems.set(code, known);
}
for (const row of rows) {
  if (row.error) note(row.error.code, true, row.error.message);
  for (const code of new Set(row.warnings.map(one => one.code))) note(code, false, row.warnings.find(one => one.code === code).message);
}
for (const [code, count] of Object.entries(totals ? totals.codes : {})) problems.set(code, { message: '', ...problems.get(code), isFailure: true, count });
const ranked = [...problems].sort((a, b) => b[1].isFailure - a[1].isFailure || usual.has(a[0]) - usual.has(b[0]) || b[1].count - a[1].count);
if (!ranked.length) find('problem-list').append(make('p', { class: 's-done' }, 'None.'));
else find('problem-list').append(make('table', {}, make('thead', {}, make('tr', {},
  make('th', { scope: 'col' }, 'Code'), make('th', { scope: 'col', class: 'number' }, 'Sources'), make('th', { scope: 'col' }, 'Meaning'),
  make('th', { scope: 'col', class: 'words' }, 'The first one'))),
  make('tbody', {}, ...ranked.map(([code, one]) => make('tr', {},
    make('td', { class: one.isFailure ? 's-failed' : 's-warned' },
      make('button', { class: 'link', type: 'button', title: 'Show these sources', onclick: () => show(code) }, visible(code))),
    make('td', { class: 'number' }, number.format(one.count)),
    make('td', {}, one.isFailure ? 'Failure. ' : usual.has(code) ? 'Usual. ' : 'Warning. ', ...prose(report.codes[code] || '')),
    make('td', { class: 'words' }, visible(one.message)))))));

function show(code) {
  find('problem').value = code;
  find('status').value = find('words').value = '';
  apply();
  find('sources-title').scrollIntoView();
  find('problem').focus();
}

// Plots

function sizesPlot() {
  const measured = standing.filter(row => row.bytes && row.after);
  if (!measured.length) return make('p', { class: 'hint' }, 'There are no renditions.');
  const place = value => Math.floor(Math.log2(value) * 2);
  const places = measured.flatMap(row => [place(row.bytes), place(row.after)]);
  const [first, last] = [places.reduce((a, b) => Math.min(a, b)), places.reduce((a, b) => Math.max(a, b))];
  const [before, after] = [row => row.bytes, row => row.after].map(value => tally(measured, row => place(value(row))));
  const most = Math.max(...before.values(), ...after.values());
  const [width, height, bottom] = [520, 200, 172];
  const step = (width - 44) / (last - first + 1);
  const svg = make('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img' }, make('title', {},
    `Most pictures had ${bytes(median(measured.map(row => row.bytes)))} before, and their renditions have ${bytes(median(measured.map(row => row.after)))} after.`));
  for (const share of most > 1 && most % 2 === 0 ? [0, 0.5, 1] : [0, 1]) {
    const y = bottom - share * 150;
    svg.append(make('line', { class: 'axis', x1: 40, x2: width, y1: y, y2: y }), make('text', { x: 34, y: y + 4, 'text-anchor': 'end' }, number.format(Math.round(most * share))));
  }
  const every = Math.max(1, Math.ceil((last - first + 1) / 6));
  for (let bin = first; bin <= last; bin += 1) {
    const x = 42 + (bin - first) * step;
    [[before, 'before', 0], [after, 'after', 0.45]].forEach(([counts, style, shift]) => {
      const count = counts.get(bin) || 0;
      if (count) svg.append(make('rect', { class: style, x: x + shift * step, width: Math.max(1, step * 0.42), y: bottom - count * 150 / most, height: count * 150 / most },
        make('title', {}, `${count} ${style}: about ${bytes(2 ** (bin / 2))}`)));
    });
    // A label that would be cut ends where the plot ends.
    const isLast = x + 60 > width;
    if ((bin - first) % every === 0) svg.append(make('text', { x: isLast ? width : x, y: height - 8, 'text-anchor': isLast ? 'end' : 'start' }, bytes(2 ** (bin / 2))));
  }
  return make('div', {}, svg, make('p', { class: 'hint' }, make('span', { class: 'swatch before' }), 'source', make('span', { class: 'swatch after' }), 'all of its renditions'));
}

const sorted = values => [...values].sort((a, b) => a - b);
const median = values => sorted(values)[Math.floor((values.length - 1) / 2)];

function timesPlot() {
  if (!finished.length) return make('p', { class: 'hint' }, 'Nothing was rendered.');
  const stages = ['waiting, planning', 'rendering', 'publishing'].map((name, index) => ({ name, values: sorted(finished.map(row => row.times[index])) }));
  const all = { name: 'all', values: sorted(finished.map(row => row.total)) };
  const at = (values, share) => values[Math.min(values.length - 1, Math.floor(values.length * share))];
  const longest = Math.max(1, at(all.values, 0.95));
  const svg = make('svg', { viewBox: '0 0 520 124', role: 'img' }, make('title', {}, 'Median time of each stage, as a bar, and the time that 95 of 100 pictures stay below, as a line.'));
  [...stages, all].forEach((stage, index) => {
    const y = 8 + index * 30;
    const [half, most] = [at(stage.values, 0.5), at(stage.values, 0.95)].map(value => value * 350 / longest);
    svg.append(make('text', { x: 0, y: y + 13 }, stage.name), make('rect', { class: 'after', x: 140, y, width: Math.max(1, Math.min(half, 350)), height: 18 }),
      make('line', { class: 'axis', x1: 140, x2: 140 + Math.min(most, 350), y1: y + 22, y2: y + 22, 'stroke-width': 3 }));
  });
  const cells = stage => [at(stage.values, 0.5), at(stage.values, 0.95), stage.values.at(-1)].map(value => make('td', { class: 'number' }, time(value)));
  return make('div', {}, svg, make('table', {}, make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, 'Stage'),
    ...['median', '95%', 'longest'].map(name => make('th', { scope: 'col', class: 'number' }, name)))),
    make('tbody', {}, ...[...stages, all].map(stage => make('tr', {}, make('th', { scope: 'row' }, stage.name), ...cells(stage))))));
}
find('sizes').append(sizesPlot());
find('times').append(timesPlot());

// The table: only rows in sight are in the page

const rowHeight = 36;
const columns = [
  { key: 'rank', name: 'Status', style: 'c-status', cell: row => make('span', { class: ['s-failed', 's-warned', 's-done'][row.rank] }, row.label) },
  ...(rows.some(row => row.inbox) ? [{ key: 'inbox', name: 'Inbox', style: 'c-inbox', cell: row => visible(row.inbox || '') }] : []),
  { key: 'path', name: 'Source', style: 'c-path', cell: (row, index) => make('button', { type: 'button', tabindex: index === active ? 0 : -1, title: visible(row.path) }, visible(row.path)) },
  { key: 'bytes', name: 'Before', style: 'c-before number', cell: row => row.bytes ? bytes(row.bytes) : '' },
  { key: 'after', name: 'After', style: 'c-after number', cell: row => row.after ? bytes(row.after) : '' },
  { key: 'ratio', name: 'Ratio', style: 'c-ratio number', cell: percent },
  { key: 'total', name: 'Time', style: 'c-time number', cell: row => row.status === 'done' || row.status === 'failed' ? time(row.total) : '' },
  { key: 'problem', name: 'Problem', style: 'c-problem', cell: row => visible(row.problem && row.problem + ': ' + row.message) },
];
let [order, direction, active, shown] = ['rank', 1, 0, []];
const [head, body, scroller, table] = [document.querySelector('#table thead tr'), document.querySelector('#table tbody'), find('scroller'), find('table')];
head.append(...columns.map(column => make('th', { scope: 'col', class: column.style }, make('button', { type: 'button', onclick: () => sortBy(column.key) }, column.name))));
table.setAttribute('aria-colcount', columns.length);

for (const name of new Set(rows.map(row => row.label))) find('status').append(make('option', { value: name }, name));
for (const name of [...new Set(rows.map(row => row.inbox).filter(Boolean))].sort()) find('inbox').append(make('option', { value: name }, visible(name)));
find('inbox').parentElement.hidden = find('inbox').options.length < 3;
for (const [code] of ranked) find('problem').append(make('option', { value: code }, visible(code)));

const value = (row, key) => key === 'ratio' ? (row.bytes ? row.after / row.bytes : 0) : key === 'problem' ? (row.problem || '\uffff') : row[key] || (key === 'path' || key === 'inbox' ? '' : 0);
function sortBy(key) {
  direction = order === key ? -direction : ['bytes', 'after', 'ratio', 'total'].includes(key) ? -1 : 1;
  order = key;
  apply();
}

function apply() {
  const [wanted, status, code, inbox] = [find('words').value.trim().toLowerCase(), find('status').value, find('problem').value, find('inbox').value];
  shown = rows.filter(row => (!status || row.label === status) && (!inbox || row.inbox === inbox) && (!wanted || row.text.includes(wanted))
    && (!code || (row.error && row.error.code === code) || row.warnings.some(one => one.code === code)));
  shown.sort((a, b) => {
    const [left, right] = [value(a, order), value(b, order)];
    return (left < right ? -direction : left > right ? direction : 0) || a.order - b.order;
  });
  columns.forEach((column, index) => head.children[index].setAttribute('aria-sort', column.key === order ? (direction > 0 ? 'ascending' : 'descending') : 'none'));
  find('count').textContent = shown.length === rows.length ? counted(rows.length, 'source') : `${number.format(shown.length)} of ${counted(rows.length, 'source')}`;
  keep();
  table.setAttribute('aria-rowcount', shown.length + 1);
  active = 0;
  scroller.scrollTop = 0;
  draw();
}

function draw() {
  // Paper has all of them.
  const first = isPrinting ? 0 : Math.max(0, Math.floor(scroller.scrollTop / rowHeight) - 8);
  const last = isPrinting ? shown.length : Math.min(shown.length, first + Math.ceil(Math.max(innerHeight, 660) / rowHeight) + 16);
  // Whoever has the focus keeps it.
  const hadFocus = body.contains(document.activeElement);
  const above = make('tr', { class: 'spacer', 'aria-hidden': 'true' }, make('td'));
  const below = above.cloneNode(true);
  above.firstChild.style.height = first * rowHeight + 'px';
  below.firstChild.style.height = (shown.length - last) * rowHeight + 'px';
  const lines = shown.slice(first, last).map((row, place) => make('tr', { class: 'row', 'aria-rowindex': first + place + 2, 'data-index': first + place },
    ...columns.map(column => make('td', { class: column.style }, column.cell(row, first + place)))));
  body.replaceChildren(...(first ? [above] : []), ...lines, ...(last < shown.length ? [below] : []));
  if (!lines.some(line => +line.dataset.index === active)) lines[0]?.querySelector('button')?.setAttribute('tabindex', 0);
  if (hadFocus) button(active)?.focus({ preventScroll: true });
}
const button = index => body.querySelector(`tr[data-index="${index}"] button`);

function move(index) {
  active = Math.max(0, Math.min(shown.length - 1, index));
  const [top, bottom] = [active * rowHeight, (active + 1) * rowHeight + 38];
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
  draw();
  button(active)?.focus({ preventScroll: true });
}

let isPrinting = false;
addEventListener('beforeprint', () => { isPrinting = true; draw(); });
addEventListener('afterprint', () => { isPrinting = false; draw(); });

// The filter and the order are in the address, so that it can be kept and sent.
const fields = ['words', 'status', 'problem', 'inbox'];
function keep() {
  const kept = new URLSearchParams(fields.map(name => [name, find(name).value]).filter(([, value]) => value));
  if (order !== 'rank' || direction !== 1) kept.set('order', (direction < 0 ? '-' : '') + order);
  const address = kept.size ? '#' + kept : location.href.split('#')[0];
  if (location.hash !== (kept.size ? '#' + kept : '')) history.replaceState(null, '', address);
}
function takeUp() {
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const name of fields) {
    find(name).value = kept.get(name) || '';
    // A value that is no option is none.
    if (find(name).value === '' && name !== 'words') find(name).selectedIndex = 0;
  }
  const key = (kept.get('order') || '').replace(/^-/, '');
  if (columns.some(column => column.key === key)) [order, direction] = [key, kept.get('order').startsWith('-') ? -1 : 1];
  apply();
}
addEventListener('hashchange', takeUp);

let drawing = false;
scroller.addEventListener('scroll', () => {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => { drawing = false; draw(); });
});
addEventListener('resize', draw);
body.addEventListener('keydown', event => {
  const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 2);
  const target = { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: shown.length - 1 }[event.key];
  if (target === undefined) return;
  event.preventDefault();
  move(target);
});
body.addEventListener('focusin', event => { active = +(event.target.closest('tr')?.dataset.index ?? active); });
body.addEventListener('click', event => {
  const line = event.target.closest('tr.row');
  if (!line) return;
  active = +line.dataset.index;
  button(active)?.focus({ preventScroll: true });
  open(shown[active]);
});
find('filters').addEventListener('input', apply);
find('filters').addEventListener('submit', event => event.preventDefault());

// One source

const dialog = find('detail');
function open(row) {
  const facts = [row.format, row.width && `${row.width}×${row.height}`, row.bytes && bytes(row.bytes), row.inbox && 'inbox ' + visible(row.inbox), moment(row.started), row.attempt > 1 && `attempt ${row.attempt}`,
    row.status === 'done' && `waited ${time(row.times[0])}, rendered in ${time(row.times[1])}, published in ${time(row.times[2])}`];
  const error = row.error && make('p', { class: 's-failed' }, `${visible(row.error.code)} at ${visible(row.error.stage)}: ${visible(row.error.message)}`);
  dialog.replaceChildren(
    make('div', { class: 'head' }, make('h3', { id: 'detail-title' }, visible(row.path)), make('button', { class: 'plain', type: 'button', onclick: () => dialog.close() }, 'Close')),
    make('p', { class: 'actions' }, row.url ? make('a', { href: row.url }, 'Open the source') : null, copying(row.path, 'the path of the source')),
    make('p', { class: 'hint' }, facts.filter(Boolean).join(' · ')), ...(error ? [error] : []),
    ...(row.error && row.error.detail ? [make('p', { class: 'hint' }, visible(row.error.detail))] : []),
    ...(row.error && report.remedies[row.error.code] ? [make('p', {}, report.remedies[row.error.code])] : []),
    ...(row.error ? [make('p', {}, row.error.retryable ? 'Trying again can help.' : 'Trying again does not help as long as the file is the same.')] : []),
    ...row.parameters.map(one => make('p', { class: 'hint' }, visible(`${one.name}: ${one.value} (${one.origin})`))),
    ...row.warnings.map(one => make('p', { class: 's-warned' }, `${visible(one.code)}: ${visible(one.message)}`)),
    ...(row.renditions.length ? [comparison(row), renditions(row)] : []));
  dialog.showModal();
}

// The row may have been drawn anew meanwhile; then the browser does not find what had the focus.
dialog.addEventListener('close', () => button(active)?.focus({ preventScroll: true }));

function renditions(row) {
  return make('div', { class: 'list' }, make('table', {}, make('thead', {}, make('tr', {}, ...['Rendition', 'File', 'Format', 'Pixels'].map(name => make('th', { scope: 'col' }, name)), make('th', { scope: 'col', class: 'number' }, 'Bytes'), make('th', { scope: 'col' }, 'Path'))),
    make('tbody', {}, ...row.renditions.map(one => make('tr', {}, make('td', {}, title(one)), make('td', {}, one.url ? make('a', { href: one.url }, visible(one.path)) : visible(one.path)), make('td', {}, one.format + (one.cached ? ', from the cache' : '')),
      make('td', {}, `${one.width}×${one.height}`), make('td', { class: 'number' }, one.bytes ? bytes(one.bytes) : ''),
      make('td', {}, copying(one.path, 'the path of ' + visible(one.path))))))));
}
const title = one => visible(one.name) + (one.scale > 1 ? `@${one.scale}x` : '');

/** The source below a rendition, and a slider that says how much of each is seen. */
function comparison(row) {
  const seen = row.renditions.filter(one => one.url);
  if (!seen.length) return make('p', { class: 'hint' }, row.status === 'planned' ? 'Nothing was written.' : row.archive ? `The renditions are in ${visible(row.archive)}, which browsers do not open.` : 'The report does not say where the pictures are.');
  const notes = make('p', { class: 'hint', 'aria-live': 'polite' });
  const bar = make('div', { class: 'bar' });
  const [before, after] = [make('img', { alt: 'before: ' + visible(row.path) }), make('img', {})];
  const box = make('div', { class: 'compare' }, before, after, bar, make('span', { class: 'tag left' }, 'before'), make('span', { class: 'tag right' }, 'after'));
  const slider = make('input', { type: 'range', min: 0, max: 100, value: 50, id: 'slider', oninput: slide });
  const label = make('label', { class: 'slider' }, 'Before and after', slider);
  const choice = make('select', { onchange: () => choose(seen[choice.selectedIndex]) }, ...seen.map(one => make('option', {}, `${title(one)} ${one.format} ${one.width}×${one.height}`)));
  let missing = new Set();
  function slide() {
    after.style.clipPath = `inset(0 0 0 ${slider.value}%)`;
    bar.style.left = `calc(${slider.value}% - 1px)`;
    slider.setAttribute('aria-valuetext', `${slider.value}% before, ${100 - slider.value}% after`);
  }
  function settle() {
    before.hidden = missing.has('before');
    after.hidden = missing.has('after');
    box.hidden = missing.size === 2;
    label.hidden = bar.hidden = missing.size > 0;
    if (!row.url && !missing.has('after')) {
      notes.textContent = 'Only the rendition can be shown: the report does not say where the source is, or it is a set.';
      after.style.clipPath = 'none';
      return;
    }
    const lost = [...missing].sort().map(which => which === 'before' ? `the source ${visible(row.path)}` : `the rendition ${visible(seen[choice.selectedIndex].path)}`);
    notes.textContent = lost.length ? `Cannot be shown: ${lost.join(' and ')}. It is not there any more, or browsers do not show its format.` : shape(seen[choice.selectedIndex]);
    if (missing.size) after.style.clipPath = 'none'; else slide();
  }
  function shape(one) {
    const turned = row.orientation >= 5;
    const [width, height] = turned ? [row.height, row.width] : [row.width, row.height];
    const differs = width && Math.abs(width / height / (one.width / one.height) - 1) > 0.02;
    return differs ? 'The rendition has another shape than the source, so they do not lie on each other.' : '';
  }
  function choose(one) {
    missing = new Set();
    after.alt = 'after: ' + visible(one.path);
    after.src = one.url;
    box.style.aspectRatio = `${one.width} / ${one.height}`;
    // A small picture is shown at twice its size at most.
    box.style.maxWidth = `min(100%, calc(60vh * ${one.width / one.height}), ${Math.max(320, one.width * 2)}px)`;
    if (row.url) before.src = row.url; else missing.add('before');
    settle();
  }
  before.addEventListener('error', () => { missing.add('before'); settle(); });
  after.addEventListener('error', () => { missing.add('after'); settle(); });
  choose(seen[0]);
  return make('div', {}, seen.length > 1 ? make('label', { class: 'slider' }, 'Rendition', choice) : null, box, label, notes);
}

takeUp();
