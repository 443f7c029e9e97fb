// The search near the failure as a graph, from `check::search_trace`: its log, partial orders, and
// the paths that agree with assumptions.

class Search {
  constructor(data, operations) {
    this.operations = operations;
    this.steps = data.steps.map(([op, part, parts, must, after]) => ({
      op,
      part,
      parts,
      must,
      after,
      start: operations.start[op],
      end: must ? operations.end[op] : Infinity,
    }));
    this.states = data.states;
    this.answers = data.answers;
    this.found = data.found;
    this.cut = data.cut;
    this.roots = data.roots.map(([node]) => node);
    const begun = new Map(data.roots);
    this.nodes = data.nodes.map(([state, parent, by, flat], at) => {
      const tries = [];
      for (let i = 0; i < flat.length; i += 2) {
        const [step, outcome] = [flat[i], flat[i + 1]];
        tries.push(outcome >= 0 ? { step, to: outcome } : { step, to: -1, answer: -1 - outcome });
      }
      return { at, state, parent, by, tries, done: bits(begun.get(at) ?? []), depth: 0 };
    });
    for (const node of this.nodes) {
      // A parent comes before its children.
      if (node.parent >= 0) node.done = this.nodes[node.parent].done | (1n << BigInt(node.by));
      node.depth = ones(node.done);
    }
  }

  /** Whether it covers every operation of the page. */
  isOfAll() {
    return new Set(this.steps.map(({ op }) => op)).size === this.operations.count;
  }

  state(node) {
    return this.states[this.nodes[node].state];
  }

  isDone(node, step) {
    return ((this.nodes[node].done >> BigInt(step)) & 1n) === 1n;
  }

  /** "B pop() → 3", and which part of it. */
  label(step) {
    const { op, part, parts } = this.steps[step];
    const letter = this.operations.letters.get(op);
    const of = parts > 1 ? ` (part ${part + 1} of ${parts})` : '';
    return `${letter ? letter + ' ' : ''}${this.operations.label(op)}${of}`;
  }

  /** The undone step whose operation returns first: only overlapping ones may precede it. */
  due(node) {
    const left = this.steps.filter((step, at) => !this.isDone(node, at));
    return left.reduce((a, b) => (b.end < (a?.end ?? Infinity) ? b : a), null);
  }

  /** What keeps a step from being tried; none if it can be. */
  waitsFor(node, step) {
    const { start, after } = this.steps[step];
    const due = this.due(node);
    const earlier = after.find((other) => !this.isDone(node, other));
    if (earlier !== undefined) return `after ${this.label(earlier)}, a part of the same call`;
    if (due && start > due.end) {
      return `was called after ${this.operations.full(due.op)} had returned`;
    }
    return null;
  }

  /** The nodes from a root to `node`. */
  path(node) {
    const path = [];
    for (let at = node; at >= 0; at = this.nodes[at].parent) path.push(at);
    return path.reverse();
  }

  leads(node) {
    return this.nodes[node].tries.filter((one) => one.to >= 0);
  }

  /** The nodes at which the search could not go on, or was done; the deepest first. */
  ends() {
    const isEnd = (node) =>
      node.at === this.found || (node.tries.length > 0 && this.leads(node.at).length === 0);
    const ends = this.nodes.filter(isEnd);
    return ends.sort((a, b) => b.depth - a.depth || a.at - b.at).map((node) => node.at);
  }

  /** Why nothing could follow `node`: each step that was tried, and the answer expected. */
  stuck(node) {
    const { tries } = this.nodes[node];
    return tries
      .filter((one) => one.to < 0)
      .map(({ step, answer }) => ({ op: this.steps[step].op, step, answer: this.answers[answer] }));
  }

  /** The moves of the search, in order. */
  log() {
    const log = [];
    const seen = new Set();
    // A search that was cut ends at its last configuration.
    const isOver = () => seen.has(this.found) || (this.cut && seen.size === this.nodes.length);
    const visit = (at) => {
      const node = this.nodes[at];
      seen.add(at);
      for (const { step, to, answer } of node.tries) {
        if (to < 0) log.push({ kind: 'refused', node: at, step, answer: this.answers[answer] });
        else if (seen.has(to)) log.push({ kind: 'seen', node: at, step, to });
        else {
          log.push({ kind: 'taken', node: at, step, to });
          visit(to);
          if (isOver()) return;
          log.push({ kind: 'back', node: at, step, to });
        }
      }
      if (at === this.found) log.push({ kind: 'found', node: at });
      else if (this.leads(at).length === 0 && node.tries.length > 0) {
        log.push({ kind: 'stuck', node: at });
      }
    };
    for (const root of this.roots) {
      log.push({ kind: 'begin', node: root });
      visit(root);
    }
    const last = log.at(-1)?.node ?? 0;
    if (this.cut) log.push({ kind: 'cut', node: last });
    else if (this.found === null) log.push({ kind: 'none', node: this.roots.at(-1) ?? 0 });
    return log;
  }

  /**
   * The longest paths that agree with the pins (depth to step): for each node on them, how many
   * paths lead to it and on from it; null if there are none.
   */
  ways(pins) {
    const allowed = (node, step) => {
      const pin = pins.get(this.nodes[node].depth + 1);
      return pin === undefined || pin === step;
    };
    const reached = new Map(this.roots.map((root) => [root, 1]));
    for (const at of this.byDepth()) {
      if (!reached.has(at)) continue;
      for (const { step, to } of this.leads(at)) {
        if (allowed(at, step)) reached.set(to, (reached.get(to) ?? 0) + reached.get(at));
      }
    }
    const farthest = Math.max(0, ...pins.keys());
    const ends = this.ends().filter((end) => reached.has(end) && this.nodes[end].depth >= farthest);
    if (ends.length === 0) return null;
    const longest = ends.filter((end) => this.nodes[end].depth === this.nodes[ends[0]].depth);
    const left = new Map(longest.map((end) => [end, 1]));
    for (const at of this.byDepth().reverse()) {
      for (const { step, to } of reached.has(at) ? this.leads(at) : []) {
        if (left.has(to) && allowed(at, step)) left.set(at, (left.get(at) ?? 0) + left.get(to));
      }
    }
    return { reached, left, ends: longest, allowed };
  }

  byDepth() {
    return this.nodes
      .map((node) => node.at)
      .sort((a, b) => this.nodes[a].depth - this.nodes[b].depth);
  }

  /** How these paths reach `node`: the node before it and the step from there. */
  arrivals(node, ways) {
    const found = [];
    for (const at of ways.left.keys()) {
      for (const { step, to } of this.leads(at)) {
        if (to === node && ways.allowed(at, step)) found.push({ from: at, step });
      }
    }
    return found.sort((a, b) => a.step - b.step);
  }
}

function bits(places) {
  return places.reduce((all, place) => all | (1n << BigInt(place)), 0n);
}

function ones(bits) {
  let count = 0;
  for (let rest = bits; rest > 0n; rest &= rest - 1n) count++;
  return count;
}

/** Partial orders, the longest first: of the whole search if it is there, else the stored ones. */
function partialOrders(search, partials) {
  if (search && !search.cut && search.found === null) {
    return search.ends().map((end) => orderTo(search, end));
  }
  if (partials) {
    return partials.orders.map(({ before, done, steps, stuck }) => ({
      before,
      done,
      stuck: stuck.map((op) => ({ op })),
      steps: steps.map(([op, state]) => ({ op, state })),
    }));
  }
  const best = search?.found ?? search?.ends()[0];
  return best === undefined ? [] : [orderTo(search, best)];
}

function orderTo(search, end) {
  const [root, ...path] = search.path(end);
  const before = search.steps.filter((step, at) => search.isDone(root, at)).map(({ op }) => op);
  const step = (node) => ({
    op: search.steps[search.nodes[node].by].op,
    step: search.nodes[node].by,
    state: search.state(node),
  });
  return {
    before: search.state(root),
    done: [...new Set(before)],
    steps: path.map(step),
    stuck: end === search.found ? [] : search.stuck(end),
  };
}

/** The index of the longest order with an operation; -1 if none has it. */
function longestThrough(orders, op) {
  return orders.findIndex(
    ({ done, steps }) => done.includes(op) || steps.some((step) => step.op === op),
  );
}
