// Makes elements of the page.

/** An element; properties that begin with "on" are listeners, others attributes. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/** Replaces the children of an element; keeps the focus by its `data-key`. */
function replace(parent, ...children) {
  const key = parent.contains(document.activeElement)
    ? document.activeElement.getAttribute('data-key')
    : null;
  parent.replaceChildren(...children.flat().filter((child) => child !== null));
  if (key) parent.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

function button(text, properties = {}) {
  return el('button', { type: 'button', ...properties }, text);
}

/** A call as code, with its letter. */
function callText(page, op) {
  const { operations } = page;
  const letter = operations.letters.get(op);
  return el(
    'span',
    { class: 'call' },
    letter ? el('b', { class: 'letter' }, letter) : null,
    letter ? ' ' : null,
    el('code', {}, operations.call(op)),
    ' → ',
    el('code', {}, operations.answer(op)),
  );
}

/** A button with a call, which selects the operation. */
function callButton(page, op, key) {
  return el(
    'button',
    {
      type: 'button',
      class: 'link',
      'data-op': op,
      'data-key': key,
      'aria-label': `Select ${page.operations.full(op)}`,
      onclick: () => page.select(op),
    },
    callText(page, op),
  );
}

/** A state with its changes marked, also in words for screen readers. */
function stateText(before, after) {
  const names = { '+': 'added ', '-': 'removed ', '~': 'changed to ' };
  const pieces = before === null ? [{ text: after, mark: '' }] : changes(before, after);
  const shown = pieces.map(({ text, mark }) => {
    if (mark === '') return text;
    const tag = { '+': 'ins', '-': 'del', '~': 'mark' }[mark];
    return el(tag, {}, el('span', { class: 'said' }, names[mark]), text);
  });
  const kept = before !== null && before === after;
  return el(
    'code',
    { class: 'state' },
    ...shown,
    kept ? el('span', { class: 'muted' }, ' =') : null,
  );
}

/** A table of rows of cells; the first cell of each is its header. */
function table(caption, heads, rows) {
  const head = el(
    'tr',
    {},
    heads.map((text) => el('th', { scope: 'col' }, text)),
  );
  return el('table', {}, el('caption', {}, caption), el('thead', {}, head), el('tbody', {}, rows));
}

/** Announces a change to screen readers. */
function say(text) {
  byId('live').textContent = text;
}
