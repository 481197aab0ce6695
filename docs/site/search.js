// The search: which sections fit the words that a reader has typed. It touches no page.

// What people type, and the words of these pages for it.
const meanings = {
  colour: 'color', colours: 'color', grey: 'gray', jpg: 'jpeg', tif: 'tiff', k8s: 'kubernetes', eta: 'progress', hotfolder: 'drop folder',
  apache: 'reverse proxy', caddy: 'reverse proxy', traefik: 'reverse proxy', apt: 'package', ubuntu: 'systems', mac: 'macos', smb: 'samba', cifs: 'samba',
  favicon: 'icon', hidpi: 'scales', retina: 'scales', upscale: 'enlarge',
  cr2: 'raw', cr3: 'raw', nef: 'raw', arw: 'raw', dng: 'raw', ftp: 'sftp', lambda: 'aws',
};

// Words of a question that say nothing about what is looked for.
const common = new Set('how do does i the a an to with is are can my use using in of for and it what where when'.split(' '));

const fold = text => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
const wordsOf = text => fold(text).match(/[\p{L}\p{N}]+/gu) ?? [];

// For each word the sections that have it, with how much that says: in a title, in the title of the page, or how often in the text.
function indexed(sections) {
  const index = new Map();
  const note = (word, place, weight) => {
    if (!index.has(word)) index.set(word, new Map());
    index.get(word).set(place, (index.get(word).get(place) ?? 0) + weight);
  };
  sections.forEach((section, place) => {
    for (const word of new Set(wordsOf(section.title))) note(word, place, 8);
    for (const word of new Set(wordsOf(section.page))) note(word, place, 3);
    const counts = new Map();
    for (const word of wordsOf(section.text)) counts.set(word, (counts.get(word) ?? 0) + 1);
    for (const [word, count] of counts) note(word, place, 1 + Math.min(count, 10) / 5);
  });
  return { sections, index };
}

// How many letters are wrong, missing, too many or have changed places; more than `most` is not counted.
function mistakes(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let [before, last, row] = [[], [], [...Array(other.length + 1).keys()]];
  for (let i = 1; i <= one.length; i++) {
    [before, last, row] = [last, row, [i]];
    for (let j = 1; j <= other.length; j++) {
      row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] === other[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
    }
  }
  return row[other.length];
}

// The words of the pages that a typed one means: itself and those that begin with it; else those that contain it; else the nearest ones.
function meant(typed, index) {
  const all = [...index.keys()];
  const begin = all.filter(word => word.startsWith(typed));
  if (begin.length) return { words: begin };
  const inside = typed.length >= 4 ? all.filter(word => word.includes(typed)) : [];
  if (inside.length) return { words: inside };
  const most = typed.length < 4 ? 0 : typed.length < 8 ? 1 : 2;
  let [least, near] = [most, []];
  for (const word of most ? all : []) {
    // The end may still be missing.
    const count = Math.min(mistakes(typed, word, least), word.length > typed.length + 1 ? mistakes(typed, word.slice(0, typed.length), least) : least + 1);
    if (count < least) [least, near] = [count, []];
    if (count === least) near.push(word);
  }
  // Of several the one that most sections have.
  near.sort((one, other) => index.get(other).size - index.get(one).size);
  const word = near[0];
  return word ? { words: all.filter(other => other.startsWith(word)), instead: word } : { words: [] };
}

// The sections that fit, best first, and what was taken for what was typed.
function search({ sections, index }, text) {
  const asked = wordsOf(text);
  const telling = asked.filter(word => !common.has(word));
  const typed = (telling.length ? telling : asked).flatMap(word => (meanings[word] ?? word).split(' '));
  const values = sections.map(() => ({ value: 0, words: new Set() }));
  const found = typed.map(word => {
    const { words, instead } = meant(word, index);
    const best = new Map();
    for (const one of words) {
      for (const [place, weight] of index.get(one)) best.set(place, Math.max(best.get(place) ?? 0, one === word ? weight : weight * 0.6));
    }
    for (const [place, weight] of best) {
      values[place].value += weight;
      values[place].words.add(word);
    }
    return { word, words, instead };
  });
  const most = Math.max(0, ...values.map(one => one.words.size));
  const phrase = typed.join(' ');
  const hits = values.map(({ value, words }, place) => ({ value, words, section: sections[place] })).filter(one => most && one.words.size === most);
  for (const hit of hits) {
    if (typed.length > 1 && fold(`${hit.section.title} ${hit.section.text}`).includes(phrase)) hit.value += 4;
    // What was decided and what has changed is for few.
    if (/decisions\/|CHANGELOG|architecture/.test(hit.section.address)) hit.value /= 3;
  }
  hits.sort((one, other) => other.value - one.value);
  return { hits: hits.map(one => one.section), missing: found.filter(one => !one.words.length).map(one => one.word), isWhole: most === new Set(typed).size,
    words: found.flatMap(one => one.words), instead: found.filter(one => one.instead) };
}
