// The search, and the contents on a phone. Pages can be read without this script.
const root = document.currentScript.dataset.root;

// On a phone the contents are closed until they are asked for.
const wide = matchMedia('(min-width: 60rem)');
const follow = () => { document.getElementById('contents').open = wide.matches; };
wide.addEventListener('change', follow);
follow();
document.querySelector('nav [aria-current]')?.scrollIntoView({ block: 'nearest' });

const input = document.getElementById('words');
const found = document.getElementById('found');
const list = found.querySelector('ul');
document.querySelector('search').hidden = false;

// The index is loaded when it is wanted first. A script can be loaded from a file, where a page may fetch nothing.
let index;
const load = () => index ??= new Promise(done => {
  const script = document.createElement('script');
  script.src = `${root}/search.js`;
  script.onload = () => done(sections);
  document.head.append(script);
});

const fold = text => text.toLowerCase();

// How well a section fits all words: their places count, title before text; 0 if a word is missing.
function rank(section, words) {
  const places = [[fold(section.title), 8], [fold(section.page), 3], [fold(section.text), 1]];
  let sum = 0;
  for (const word of words) {
    const best = places.reduce((most, [text, value]) => text.includes(word) ? Math.max(most, value) : most, 0);
    if (!best) return 0;
    sum += best;
  }
  return sum;
}

// The words around the first hit.
function excerpt(section, words) {
  const at = Math.max(0, Math.min(...words.map(word => fold(section.text).indexOf(word)).filter(place => place >= 0), section.text.length) - 40);
  return (at ? '… ' : '') + section.text.slice(at, at + 140).trim() + (at + 140 < section.text.length ? ' …' : '');
}

function entry(section, words) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${root}/${section.address}`;
  link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
  const text = document.createElement('span');
  text.textContent = excerpt(section, words);
  item.append(link, text);
  return item;
}

async function show() {
  const all = await load();
  const words = fold(input.value).split(/\s+/).filter(Boolean);
  found.hidden = !words.length;
  if (!words.length) return;
  const ranked = all.map(section => [rank(section, words), section]).filter(([value]) => value);
  ranked.sort((one, other) => other[0] - one[0]);
  const shown = ranked.slice(0, 20);
  list.replaceChildren(...shown.map(([, section]) => entry(section, words)));
  found.querySelector('p').textContent = !ranked.length ? 'Nothing found.' : ranked.length > shown.length
    ? `${ranked.length} sections; the best ${shown.length}:` : ranked.length === 1 ? '1 section:' : `${ranked.length} sections:`;
}

input.addEventListener('input', show);
document.addEventListener('keydown', event => {
  const links = [...list.querySelectorAll('a')];
  const place = links.indexOf(document.activeElement);
  if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName) && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    input.focus();
  } else if (event.key === 'Escape' && !found.hidden) {
    found.hidden = true;
    input.focus();
  } else if (!found.hidden && event.key === 'ArrowDown' && (place >= 0 || document.activeElement === input)) {
    event.preventDefault();
    links[Math.min(place + 1, links.length - 1)]?.focus();
  } else if (!found.hidden && event.key === 'ArrowUp' && place >= 0) {
    event.preventDefault();
    (links[place - 1] ?? input).focus();
  } else if (event.key === 'Enter' && document.activeElement === input) {
    links[0]?.click();
  }
});
document.addEventListener('click', event => { if (!event.target.closest('search')) found.hidden = true; });
