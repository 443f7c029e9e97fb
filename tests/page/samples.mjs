// Data of the browser tests: histories good and bad, short and long, an interleaving. Also measures
// the contrast of two colours.

import assert from 'node:assert';

const line = (thread, op, args, start, end, results, status) =>
  JSON.stringify({ thread, op, args, start, end, status: status ?? 'ok', results: results ?? [] });
const history = (model, lines) => [JSON.stringify({ interlap: 1, model }), ...lines, ''].join('\n');

function queue(first, second) {
  return history('fifo', [
    line(0, 'enqueue', [1], 10, 30),
    line(1, 'enqueue', [2], 35, 60),
    line(2, 'enqueue', [3], 50, 80),
    line(0, 'dequeue', [], 70, 90, [first]),
    line(1, 'dequeue', [], 100, 130, [second]),
    line(2, 'dequeue', [], 110, 140, [3]),
    line(0, 'enqueue', [4], 1100, 1120),
    line(1, 'dequeue', [], 1110, null, [], 'pending'),
  ]);
}

/** Events between which something is said. */
function notes() {
  const event = (event, client_id, op_id) => ({ event, client_id, op_id });
  const lines = [
    { note: 'n1 leads' },
    event({ start: { op: 'enqueue', args: [1] } }, 0, 0),
    { note: 'n2 is cut off', span: 1 },
    event({ start: { op: 'enqueue', args: [2] } }, 1, 1),
    event({ note: 'asks n3' }, 1, 1),
    event({ finish: {} }, 0, 0),
    { note: 'n3 leads' },
    event({ finish: {} }, 1, 1),
    { end_span: 1 },
    event({ start: { op: 'dequeue' } }, 0, 2),
    event({ finish: { results: [3] } }, 0, 2),
  ];
  return history('fifo', lines.map((line) => JSON.stringify(line)));
}

/** Pushes in any order, and pops that no order of them explains. */
function stack() {
  return history('lifo', [
    line(0, 'push', [1], 10, 40),
    line(1, 'push', [2], 12, 44),
    line(2, 'push', [3], 14, 46),
    line(0, 'pop', [], 50, 80, [2]),
    line(1, 'push', [4], 52, 84),
    line(2, 'pop', [], 60, 90, [3]),
    line(0, 'pop', [], 95, 120, [1]),
    line(1, 'pop', [], 96, 122, [], 'empty'),
    line(2, 'pop', [], 125, 140, [4]),
  ]);
}

/** A set used by several threads, as one that works would answer, but for one call near the end. */
function sets(count, threads = 5) {
  let seed = 7;
  const random = (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 4294967296) * below);
  };
  const lines = [];
  const present = new Set();
  const free = new Array(threads).fill(0);
  let instant = 100;
  for (let at = 0; at < count; at++) {
    instant += at % 500 === 499 ? 4000 : 10;
    const thread = free.indexOf(Math.min(...free));
    const start = Math.max(instant - random(6 * threads), free[thread] + 1);
    const end = Math.max(start, instant + random(4 * threads));
    free[thread] = end;
    const key = random(20);
    const bad = at === Math.floor(count * 0.9);
    const op = bad ? 'contains' : ['insert', 'remove', 'contains'][random(3)];
    const was = present.has(key);
    if (op === 'insert') present.add(key);
    if (op === 'remove') present.delete(key);
    const ok = (op === 'insert') !== was;
    lines.push(line(thread, op, [key], start, end, [], ok !== bad ? 'ok' : 'failed'));
  }
  return history('set', lines);
}

export function histories() {
  return {
    'queue-bad': queue(2, 1),
    'queue-good': queue(1, 2),
    'stack-bad': stack(),
    notes: notes(),
    'sets-100': sets(100),
    'sets-3000': sets(3000),
    'sets-30000': sets(30000),
    'sets-100000': sets(100000),
    'many-threads': sets(20000, 60),
  };
}

const at = (step, thread, operation, what, line, text, isSwitch = false, from = null) => ({
  step,
  thread: `thread ${thread}`,
  operation,
  what,
  file: 'queue.h',
  line,
  from,
  text,
  switch: isSwitch,
});

export const interleaving = {
  left_out: 12,
  steps: [
    at(12, 0, 0, 'load head', 31, 'Node *head = head_.load();'),
    at(24, 0, 0, 'store 1 to tail', 33, 'tail_.store(node);'),
    at(40, 1, 1, 'load tail', 39, 'Node *tail = tail_.load();'),
    at(55, 2, 2, 'load tail', 39, 'Node *tail = tail_.load();', true),
    at(
      62,
      1,
      1,
      'compare-exchange of tail failed',
      41,
      'tail_.compare_exchange_weak(tail, node)',
      true,
    ),
    at(75, 0, 3, 'load head', 52, 'Node *head = head_.load();', false, 88),
  ],
};

function luminance(hex) {
  const parts = [1, 3, 5]
    .map((i) => parseInt(hex.slice(i, i + 2), 16) / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
}

/** WCAG 2.1 AA: 4.5 for text, 3 for lines that mean something. */
export function contrasts(colours, name) {
  const ratio = (a, b) => {
    const [low, high] = [luminance(colours[a]), luminance(colours[b])].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  for (const [text, ground] of [
    ['text', 'ground'],
    ['text', 'box'],
    ['text', 'bad-fill'],
    ['muted', 'ground'],
    ['muted', 'weak'],
    ['bad', 'ground'],
    ['order', 'ground'],
  ]) {
    assert.ok(ratio(text, ground) >= 4.5, `${name}: ${text} on ${ground}: ${ratio(text, ground)}`);
  }
  for (const mark of ['box-line', 'near', 'bad', 'focus']) {
    assert.ok(ratio(mark, 'ground') >= 3, `${name}: ${mark}: ${ratio(mark, 'ground')}`);
  }
}
