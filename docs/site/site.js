// The field of the search, the contents on a phone, and copying. Pages can be read without this script.
const script = document.currentScript;
const root = script.dataset.root;

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

// The sections are loaded when they are wanted first. A script can be loaded from a file, where a page may fetch nothing.
let index;
const load = () => index ??= new Promise(done => {
  const data = document.createElement('script');
  data.src = `${root}/sections.js`;
  data.onload = () => done(indexed(sections));
  document.head.append(data);
});

// A part of the text with the first hit, and the hits in it marked.
function excerpt(section, words) {
  const parts = section.text.split(/([\p{L}\p{N}]+)/u);
  const known = new Set(words);
  const first = Math.max(0, parts.findIndex(part => known.has(fold(part))) - 12);
  const shown = parts.slice(first, first + 48).map(part => {
    if (!known.has(fold(part))) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
  return [first ? '… ' : '', ...shown, first + 48 < parts.length ? ' …' : ''];
}

function entry(section, words) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${root}/${section.address}`;
  link.textContent = section.title === section.page ? section.page : `${section.page}: ${section.title}`;
  const text = document.createElement('span');
  text.append(...excerpt(section, words));
  item.append(link, text);
  return item;
}

function announcement({ hits, missing, isWhole, instead }, shown) {
  if (!hits.length) return 'Nothing found.';
  const count = hits.length > shown ? `${hits.length} sections; the best ${shown}` : hits.length === 1 ? '1 section' : `${hits.length} sections`;
  const taken = instead.map(one => `“${one.instead}” instead of “${one.word}”`).join(', ');
  const lacking = missing.length ? `without ${missing.map(word => `“${word}”`).join(', ')}` : isWhole ? '' : 'no section has all words';
  return [count, taken && `with ${taken}`, lacking].filter(Boolean).join(', ') + ':';
}

async function show() {
  const all = await load();
  found.hidden = !input.value.trim();
  if (found.hidden) return;
  const result = search(all, input.value);
  const shown = result.hits.slice(0, 20);
  list.replaceChildren(...shown.map(section => entry(section, result.words)));
  found.querySelector('p').textContent = announcement(result, shown.length);
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

// On the page for an address that has none, the search begins with the words of that address.
if ('lost' in script.dataset) {
  const last = decodeURIComponent(location.pathname.replace(/\/+$/, '').split('/').pop() ?? '');
  input.value = last.replace(/\.[a-z]+$/, '').replace(/[-_.]+/g, ' ');
  show();
}

// Copying, by the older way if the page may not write to the clipboard.
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}

for (const button of document.querySelectorAll('.block button')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await copy(button.previousElementSibling.textContent.trimEnd());
    button.textContent = 'Copied';
    button.classList.add('done');
    button.focus();
    setTimeout(() => {
      button.textContent = 'Copy';
      button.classList.remove('done');
    }, 2000);
  });
}
