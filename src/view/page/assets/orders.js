// Shows an order in which the operations can have taken effect, as a table of operations and states
// and as points on the timeline.

const PAGE_ROWS = 100;

class Orders {
  constructor(page) {
    this.page = page;
    this.at = 0;
    this.from = 0;
    const { orders } = page;
    if (orders.length === 0) return;
    byId('orders').hidden = false;
    this.intro();
    this.controls();
    this.show(0);
  }

  intro() {
    const { page } = this;
    const good = page.data.verdict === 'consistent' && page.data.order;
    const complete = page.search && !page.search.cut;
    byId('orders-title').textContent = good
      ? 'An order that explains every answer'
      : page.search?.found !== null && page.search
        ? page.search.isOfAll()
          ? 'An order of all operations'
          : 'An order of the first operations'
        : 'How far it can have gone';
    const { key } = page.data.partials ?? {};
    byId('orders-intro').textContent =
      (key ? `About the operations on key ${key} alone. ` : '') +
      (good
        ? 'One order of all operations, each at an instant of its box, in which the object gives ' +
          'every answer that was recorded. There may be others.'
        : page.data.partials === null
          ? 'The longest order that the search below came to.'
          : 'Partial linearizations: orders in which operations near the failure can have taken ' +
            'effect, ' +
            'until nothing could follow. Pick an operation to see the longest order through it. ' +
            'The longest of all need not be what happened.' +
            (complete
              ? ''
              : ' There are too many orders to list them all; these are the longest.'));
  }

  controls() {
    const { page } = this;
    const near = [...page.near].sort((a, b) => a - b);
    this.pick = el(
      'select',
      { id: 'order-op', onchange: () => this.through(Number(this.pick.value)) },
      el('option', { value: -1 }, 'any operation: the longest of all'),
      near.map((op) => el('option', { value: op }, page.operations.full(op))),
    );
    this.count = el('span', { class: 'muted' });
    const many = page.orders.length > 1;
    byId('orders-controls').append(
      near.length ? el('label', {}, 'Through ', this.pick) : '',
      many ? button('◀ longer', { onclick: () => this.step(-1) }) : '',
      many ? button('shorter ▶', { onclick: () => this.step(1) }) : '',
      near.length || many ? this.count : '',
    );
  }

  /** Shows the longest order with an operation, or says that there is none. */
  through(op) {
    const { page } = this;
    const at = op < 0 ? 0 : longestThrough(page.orders, op);
    const none = byId('orders-none');
    none.hidden = at >= 0;
    if (at >= 0) return this.show(at, op);
    none.textContent = `No order gets as far as ${page.operations.full(op)}.`;
    say(none.textContent);
    return this.fill();
  }

  step(by) {
    const to = Math.min(Math.max(this.at + by, 0), this.page.orders.length - 1);
    this.pick.value = -1;
    byId('orders-none').hidden = true;
    this.show(to);
    const steps = counted(this.order.steps.length, 'step');
    say(`Order ${to + 1} of ${this.page.orders.length}, ${steps}.`);
  }

  show(at, op = -1) {
    const { page } = this;
    this.at = at;
    this.order = page.orders[at];
    const place = this.order.steps.findIndex((step) => step.op === op);
    this.from = Math.max(0, Math.floor(place / PAGE_ROWS) * PAGE_ROWS);
    const more = page.data.partials?.more ?? 0;
    this.count.textContent =
      `order ${at + 1} of ${page.orders.length}` +
      (more && !(page.search && !page.search.cut) ? ` (${more} more are not in the page)` : '');
    page.points = points(page.operations, this.order.steps);
    page.timeline?.redraw();
    this.fill();
  }

  fill() {
    const { page, order } = this;
    const { steps } = order;
    const rows = steps.slice(this.from, this.from + PAGE_ROWS).map((step, i) => {
      const at = this.from + i;
      const before = at === 0 ? order.before : steps[at - 1].state;
      const state =
        step.state === undefined
          ? el('span', { class: 'muted' }, 'not in the page')
          : stateText(before ?? null, step.state);
      return el(
        'tr',
        { class: step.op === page.selected ? 'selected' : null },
        el('th', { scope: 'row' }, String(at + 1)),
        el('td', {}, callButton(page, step.op, `order-${at}`)),
        el('td', { class: 'thread' }, page.operations.thread(step.op)),
        el('td', {}, state),
      );
    });
    const before = el('p', {}, 'State before: ', el('code', { class: 'state' }, order.before));
    replace(
      byId('orders-table'),
      order.before === undefined || this.from > 0 ? null : before,
      this.done(),
      table(
        `The order, ${counted(steps.length, 'step')}`,
        ['#', 'Operation', 'Thread', 'State after'],
        rows,
      ),
      this.pages(),
      this.stuck(),
    );
  }

  done() {
    const { page, order } = this;
    if (order.done.length === 0) return null;
    const list = order.done.map((op, i) => [i ? ', ' : '', callButton(page, op, `done-${op}`)]);
    return el('p', {}, 'Had taken effect by then: ', list.flat());
  }

  pages() {
    const { steps } = this.order;
    if (steps.length <= PAGE_ROWS) return null;
    const go = (from) => () => {
      this.from = Math.min(
        Math.max(from, 0),
        Math.floor((steps.length - 1) / PAGE_ROWS) * PAGE_ROWS,
      );
      this.fill();
    };
    return pager('orders', this.from, PAGE_ROWS, steps.length, go);
  }

  stuck() {
    const { page, order } = this;
    if (order.stuck.length === 0) return null;
    // A call that had not returned by then need not be next, but could have been.
    const isFree = (step) => step !== undefined && !page.search.steps[step].must;
    const item = ({ op, step, answer }, i) =>
      el(
        'li',
        {},
        callButton(page, op, `stuck-${i}`),
        answer === undefined ? '' : [': the object would have answered ', el('code', {}, answer)],
        isFree(step) ? ' (had not returned by then, so it need not be next)' : '',
      );
    return el(
      'div',
      { class: 'stuck' },
      el('p', {}, el('b', {}, '✕ Then nothing could follow.'), ' One of these had to be next:'),
      el('ul', {}, order.stuck.map(item)),
    );
  }

  selected(op) {
    const { page } = this;
    if (page.orders.length === 0) return;
    if (page.near.has(op)) {
      this.pick.value = op;
      this.through(op);
      return;
    }
    const none = byId('orders-none');
    none.hidden = !page.data.partials || op < 0;
    none.textContent = none.hidden ? '' : this.farOff(op);
    const at = this.order.steps.findIndex((step) => step.op === op);
    if (at >= 0) this.from = Math.floor(at / PAGE_ROWS) * PAGE_ROWS;
    this.fill();
  }

  /** Why an operation is not in these orders. */
  farOff(op) {
    const { operations, failed, data } = this.page;
    const name = operations.full(op);
    const { key } = data.partials;
    if (operations.start[op] > operations.end[failed]) {
      return `${name} was called after the failure; these orders end before.`;
    }
    return (
      `${name} is not in these orders: it had returned long before` +
      (key ? `, or is not about key ${key}.` : ', and what it did is in the state before.')
    );
  }
}

/** A time within its box for each step of an order, in ascending order. */
function points(operations, steps) {
  const times = new Float64Array(steps.length);
  let time = 0;
  steps.forEach(({ op }, at) => {
    time = times[at] = Math.max(time, operations.start[op]);
  });
  return { times, ops: steps.map(({ op }) => op) };
}

/** The range of a long table that is shown, with buttons for others. */
function pager(name, from, size, count, go) {
  const to = Math.min(from + size, count);
  const back = from === 0,
    on = to === count;
  return el(
    'p',
    { class: 'pager' },
    button('First', { 'data-key': `${name}-first`, disabled: back, onclick: go(0) }),
    button('Previous', { 'data-key': `${name}-back`, disabled: back, onclick: go(from - size) }),
    el('span', {}, ` ${grouped(from + 1)} to ${grouped(to)} of ${grouped(count)} `),
    button('Next', { 'data-key': `${name}-on`, disabled: on, onclick: go(from + size) }),
    button('Last', { 'data-key': `${name}-last`, disabled: on, onclick: go(count) }),
  );
}
