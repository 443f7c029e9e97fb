// Tests the page's logic without a browser, given the script, a page's data and the expected
// results. The first failure throws.

'use strict';
const assert = require('node:assert');
const fs = require('node:fs');

const [script, input] = process.argv.slice(2).map((path) => fs.readFileSync(path, 'utf8'));
const names = [
  'Operations',
  'Search',
  'Scale',
  'changes',
  'partialOrders',
  'longestThrough',
  'decodeOrder',
  'points',
  'ticks',
  'grouped',
  'elements',
];
const page = new Function(`'use strict'; ${script}; return { ${names.join(', ')} };`)();
const { data, expected } = JSON.parse(input);
const operations = new page.Operations(data);

function decoding() {
  assert.equal(operations.count, expected.labels.length);
  expected.labels.forEach((label, op) => {
    assert.equal(operations.label(op), label.replace(' -> ', ' → '));
    assert.equal(operations.start[op], expected.starts[op]);
    assert.ok(operations.end[op] >= operations.start[op]);
  });
  if (expected.rows) assert.deepEqual(operations.names, expected.rows);
  if (expected.annotations) assert.deepEqual(operations.annotations, expected.annotations);
  if (expected.notes) assert.deepEqual(operations.notes, expected.notes);
  const inRows = operations.rows.reduce((sum, row) => sum + row.ops.length, 0);
  assert.equal(inRows, operations.count);
}

function time() {
  for (const collapse of [true, false]) {
    const scale = new page.Scale(operations, collapse);
    let before = -1;
    for (let op = 0; op < operations.count; op++) {
      const place = scale.place(operations.start[op]);
      assert.ok(place >= before, 'places go up with time');
      before = place;
      const back = scale.time(place);
      assert.ok(Math.abs(back - operations.start[op]) < 1e-6 * (1 + back), `${back}`);
    }
    assert.ok(collapse ? scale.total <= scale.last : scale.total === scale.last);
  }
  assert.deepEqual(page.ticks(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.equal(page.grouped(1234567), '1\u202f234\u202f567');
  assert.equal(page.grouped(0.126), '0.13');
}

function states() {
  const marks = (before, after) =>
    page
      .changes(before, after)
      .map(({ text, mark }) => mark + text)
      .join('');
  assert.equal(marks('[1, 2]', '[1, 2, 3]'), '[1, 2, +3]');
  assert.equal(marks('[1, 2]', '[2]'), '[-1, 2]');
  assert.equal(marks('{1, 5}', '{1}'), '{1, -5}');
  assert.equal(marks('{1: 5}', '{1: 7, 2: 3}'), '{1: -5 ~7, +2: 3}');
  assert.equal(marks('[[1], [2]]', '[[1], [2, 3]]'), '[[1], [2, +3]]');
  assert.equal(marks('{"a, b": ["x"]}', '{"a, b": ["x", "y"]}'), '{"a, b": ["x", +"y"]}');
  assert.equal(marks('3', '4'), '-3 ~4');
  const [follower, leader] = ['Node { term: 3, log: [1] }', 'Node { term: 4, log: [1, 2] }'];
  assert.equal(marks(follower, leader), 'Node { term: -3 ~4, log: [1, +2] }');
  assert.equal(marks('Some(3)', 'Some(4)'), 'Some(-3 ~4)');
  assert.equal(marks('Some(3)', 'None'), '-Some(3) ~None');
  assert.equal(marks('(1, {2})', '(1, {2, 5})'), '(1, {2, +5})');
  assert.deepEqual(page.elements('[1, Some(2, 3), "a,\\"b"]'), ['1', 'Some(2, 3)', '"a,\\"b"']);
}

function search() {
  if (!data.search) return;
  const search = new page.Search(data.search, operations);
  const log = search.log();
  const kinds = log.map(({ kind }) => kind);
  assert.equal(kinds[0], 'begin');
  assert.equal(kinds.at(-1), search.cut ? 'cut' : search.found === null ? 'none' : 'found');
  // Every configuration is reached once, every attempt is reported once.
  const taken = log.filter(({ kind }) => kind === 'taken').map(({ to }) => to);
  assert.equal(new Set(taken).size, taken.length);
  assert.equal(taken.length + search.roots.length, search.nodes.length);
  const tries = search.nodes.reduce((sum, node) => sum + node.tries.length, 0);
  const reported = kinds.filter((kind) => ['taken', 'refused', 'seen'].includes(kind)).length;
  if (!search.cut) assert.equal(reported, tries);
  pins(search);
}

/** Assumptions leave those ways that agree, and no others. */
function pins(search) {
  const all = search.ways(new Map());
  const count = (ways) => ways.ends.reduce((sum, end) => sum + ways.reached.get(end), 0);
  const [end] = all.ends;
  const arrivals = search.arrivals(end, all);
  assert.ok(arrivals.length > 0 || search.roots.includes(end));
  const { depth } = search.nodes[end];
  const steps = new Set();
  for (const node of all.ends) search.arrivals(node, all).forEach(({ step }) => steps.add(step));
  let sum = 0;
  for (const step of steps) {
    const ways = search.ways(new Map([[depth, step]]));
    sum += count(ways);
    for (const node of ways.ends) {
      assert.ok(search.arrivals(node, ways).every((one) => one.step === step));
    }
  }
  if (steps.size > 0) assert.equal(sum, count(all));
  assert.equal(search.ways(new Map([[depth, -2]])), null);
}

function orders() {
  const search = data.search ? new page.Search(data.search, operations) : null;
  const found = page.partialOrders(search, data.partials);
  for (const { steps } of found) {
    const { times } = page.points(operations, steps);
    steps.forEach(({ op }, at) => {
      assert.ok(times[at] >= operations.start[op] && times[at] <= operations.end[op]);
      assert.ok(at === 0 || times[at] >= times[at - 1]);
    });
  }
  if (expected.orders === undefined) return;
  assert.equal(found.length, expected.orders);
  assert.equal(found[0].steps.length, expected.longest);
  assert.deepEqual(
    found[0].steps.map(({ state }) => state),
    expected.states,
  );
  for (const op of data.partials.near) {
    const at = page.longestThrough(found, op);
    const has = ({ done, steps }) => done.includes(op) || steps.some((step) => step.op === op);
    assert.equal(at, found.findIndex(has));
  }
}

function good() {
  if (!data.order) return;
  const order = page.decodeOrder(data.order);
  assert.equal(order.length, data.order.count);
  assert.equal(new Set(order).size, order.length);
  const { times } = page.points(
    operations,
    Array.from(order, (op) => ({ op })),
  );
  order.forEach((op, at) => assert.ok(times[at] <= operations.end[op], 'within its box'));
}

for (const test of [decoding, time, states, search, orders, good]) {
  test();
  console.log(`ok ${test.name}`);
}
