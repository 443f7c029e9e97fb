// Compares two states in a model's words: pieces of text, each marked as kept, added, removed or
// changed. Parses lists, sets, maps, records and tuples, as Rust writes them.

const KEPT = '',
  ADDED = '+',
  REMOVED = '-',
  CHANGED = '~';

/** Splits the inside of `[...]` or `{...}` at its commas, except in inner brackets and strings. */
function elements(text) {
  const inside = text.slice(1, -1);
  const found = [];
  let depth = 0,
    quoted = false,
    from = 0;
  for (let at = 0; at < inside.length; at++) {
    const c = inside[at];
    if (quoted) {
      if (c === '\\') at++;
      else if (c === '"') quoted = false;
    } else if (c === '"') quoted = true;
    else if ('[{('.includes(c)) depth++;
    else if (')}]'.includes(c)) depth--;
    else if (c === ',' && depth === 0) {
      found.push(inside.slice(from, at).trim());
      from = at + 1;
    }
  }
  const last = inside.slice(from).trim();
  if (last !== '') found.push(last);
  return found;
}

const CLOSING = { '[': ']', '{': '}', '(': ')' };

/** The name before the brackets of a state, as in `Leader { term: 3 }`, and what is in them; null
 * for other text. */
function parsed(text) {
  const [, head, open] = /^([\w:]* ?)([[{(])/.exec(text) ?? [];
  if (open === undefined || !text.endsWith(CLOSING[open])) return null;
  return { head, open, list: elements(text.slice(head.length)) };
}

/** The pieces of `after`, with the removed ones of `before`. */
function changes(before, after) {
  if (before === after) return [{ text: after, mark: KEPT }];
  const [old, now] = [parsed(before), parsed(after)];
  if (old && now && old.head === now.head && old.open === now.open) {
    const of = { '[': listChanges, '{': mapChanges, '(': tupleChanges }[now.open];
    // Records have blanks inside their brackets.
    const blank = now.open === '{' && after[now.head.length + 1] === ' ' ? ' ' : '';
    const [open, close] = [now.head + now.open + blank, blank + CLOSING[now.open]];
    return joined(open, of(old.list, now.list), close);
  }
  return [
    { text: before, mark: REMOVED },
    { text: ' ', mark: KEPT },
    { text: after, mark: CHANGED },
  ];
}

function joined(open, groups, close) {
  const pieces = [{ text: open, mark: KEPT }];
  groups.forEach((group, at) => {
    if (at > 0) pieces.push({ text: ', ', mark: KEPT });
    pieces.push(...group);
  });
  pieces.push({ text: close, mark: KEPT });
  return pieces;
}

/** Compares lists: what is the same at both ends is kept. */
function listChanges(before, after) {
  const nested = (list) => list.length > 0 && list.every((one) => parsed(one)?.open === '[');
  if (before.length === after.length && nested(before) && nested(after)) {
    return after.map((one, at) => changes(before[at], one));
  }
  const most = Math.min(before.length, after.length);
  let front = 0,
    back = 0;
  while (front < most && before[front] === after[front]) front++;
  while (back < most - front && before.at(-1 - back) === after.at(-1 - back)) back++;
  const marked = (list, mark) => list.map((text) => [{ text, mark }]);
  return [
    ...marked(after.slice(0, front), KEPT),
    ...marked(before.slice(front, before.length - back), REMOVED),
    ...marked(after.slice(front, after.length - back), ADDED),
    ...marked(after.slice(after.length - back), KEPT),
  ];
}

/** Compares tuples by place. */
function tupleChanges(before, after) {
  if (before.length !== after.length) return listChanges(before, after);
  return after.map((one, at) => changes(before[at], one));
}

/** Compares sets, maps or records by key. */
function mapChanges(before, after) {
  const key = (text) => text.split(': ')[0];
  const old = new Map(before.map((text) => [key(text), text]));
  const groups = after.map((text) => {
    const was = old.get(key(text));
    old.delete(key(text));
    if (was === undefined) return [{ text, mark: ADDED }];
    if (was === text) return [{ text, mark: KEPT }];
    const [name, value] = [`${key(text)}: `, text.slice(key(text).length + 2)];
    const parts = changes(was.slice(name.length), value);
    return [{ text: name, mark: KEPT }, ...parts];
  });
  const gone = [...old.values()].map((text) => [{ text, mark: REMOVED }]);
  return [...groups, ...gone];
}
