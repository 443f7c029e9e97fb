// The page: creates its parts and passes the selection to each.

class Page {
  constructor(data) {
    this.data = data;
    this.operations = new Operations(data);
    this.selected = -1;
    this.moment = null;
    this.points = { times: [], ops: [] };
    const { partials, search } = data;
    this.failed = partials?.failed ?? -1;
    this.search = search ? new Search(search, this.operations) : null;
    // The operations near the failure: those of the search, if there is one.
    const searched = data.verdict === 'violation' ? this.search?.steps.map(({ op }) => op) : null;
    this.near = new Set(partials?.near ?? searched ?? []);
    this.marked = [...new Set([...data.witness, ...data.lettered])].sort((a, b) => a - b);
    this.orders = data.order ? [wholeOrder(data.order)] : partialOrders(this.search, partials);
    this.scale = new Scale(this.operations, true);
  }

  start() {
    this.head();
    theme(() => this.timeline?.recolor());
    this.timeline = new Timeline(this);
    this.interleaving = new Interleaving(this);
    this.orderView = new Orders(this);
    this.grid = new Grid(this);
    this.player = new Player(this);
    this.table = new OperationsTable(this);
    this.controls();
    this.first();
  }

  head() {
    const { data } = this;
    byId('missing').append(...data.missing.map((text) => el('p', { class: 'muted' }, text)));
    for (const id of ['orders', 'grid', 'search']) {
      const link = document.querySelector(`nav a[href="#${id}"]`);
      new MutationObserver(() => {
        link.hidden = byId(id).hidden;
      }).observe(byId(id), { attributes: true });
      link.hidden = byId(id).hidden;
    }
    const shown = {
      near: this.near.size,
      witness: data.witness.length,
      orders: this.orders.length,
    };
    for (const item of document.querySelectorAll('.legend [data-for]')) {
      item.hidden = shown[item.dataset.for] === 0;
    }
    const { count, left_out: left } = data.operations;
    byId('count').textContent =
      `${grouped(count)} operations of ${this.operations.clients()}` +
      (left ? `, those around the failure; ${grouped(left)} more were recorded` : '') +
      `. Times in ${this.operations.unit.name}.`;
    byId('timeline').setAttribute(
      'aria-label',
      `Timeline of ${grouped(count)} operations, a row a thread. ` +
        'The table below has the same.',
    );
  }

  controls() {
    const { timeline } = this;
    const collapse = el('input', {
      type: 'checkbox',
      checked: true,
      onchange: () => {
        const middle = this.scale.time((timeline.view.low + timeline.view.high) / 2);
        const length = timeline.view.high - timeline.view.low;
        this.scale = new Scale(this.operations, collapse.checked);
        timeline.mapDrawn = null;
        const at = this.scale.place(middle);
        timeline.show(at - length / 2, at + length / 2);
      },
    });
    byId('timeline-controls').append(
      this.hasError()
        ? button('Jump to first error', { class: 'main', onclick: () => this.jumpToError() })
        : '',
      button('Whole history', { onclick: () => timeline.showWhole() }),
      button('+', { 'aria-label': 'Zoom in', onclick: () => timeline.zoom(ZOOM) }),
      button('−', { 'aria-label': 'Zoom out', onclick: () => timeline.zoom(1 / ZOOM) }),
      button('◀', { 'aria-label': 'Move left', onclick: () => timeline.pan(-0.4) }),
      button('▶', { 'aria-label': 'Move right', onclick: () => timeline.pan(0.4) }),
      el('label', {}, collapse, ' Cut idle time short'),
    );
  }

  hasError() {
    return this.failed >= 0 || this.marked.length > 0;
  }

  /** Shows the failure, or the beginning. */
  first() {
    if (this.hasError()) {
      this.timeline.showAll(this.interesting());
      return this.timeline.scrollTo(this.failed >= 0 ? this.failed : this.marked.at(-1));
    }
    const { count } = this.operations;
    return this.timeline.showAll(Array.from({ length: Math.min(count, 60) }, (_, op) => op));
  }

  interesting() {
    const { start } = this.operations;
    const all = [...new Set([...this.marked, ...this.near])];
    // A witness that began long before would make the failure too small to see.
    const last = Math.max(...all.map((op) => start[op]));
    const near = [...this.near].map((op) => start[op]);
    const span = near.length ? last - Math.min(...near) : Infinity;
    return all.filter((op) => this.near.has(op) || last - start[op] <= 3 * span);
  }

  jumpToError() {
    this.timeline.showAll(this.interesting());
    this.select(this.failed >= 0 ? this.failed : (this.marked.at(-1) ?? -1));
    byId('timeline').focus({ preventScroll: true });
  }

  /** Selects an operation, or none (-1); `stay`: does not move the timeline. */
  select(op, { stay = false } = {}) {
    this.selected = op;
    this.moment = null;
    byId('selected').hidden = op < 0;
    if (op >= 0) {
      if (!stay) this.timeline.reveal(op);
      this.orderView.selected(op);
      replace(byId('selected-details'), details(this, op));
      const notes = this.notes(op)
        .map(([name, value]) => `${name}: ${value}`)
        .join(', ');
      say(
        `${this.operations.full(op)}, called at ` +
          `${this.operations.time(this.operations.start[op])}. ${notes}`,
      );
    } else say('Nothing is selected.');
    this.table.selected(op);
    this.interleaving.selected(op);
    this.timeline.redraw();
  }

  /** Shows a step of the schedule on the timeline, with its operation. */
  point(stamp, op) {
    if (op !== null && op >= 0) this.select(op);
    this.moment = Number(BigInt(stamp) - this.operations.zero);
    const { low, high } = this.timeline.view;
    const at = this.scale.place(this.moment);
    if (at < low || at > high) this.timeline.show(at - (high - low) / 2, at + (high - low) / 2);
    this.timeline.redraw();
  }

  /** Notes on an operation: names and values. */
  notes(op) {
    const notes = [];
    if (this.failed === op) notes.push(['failure', '✕ no order explains its answer']);
    else if (this.operations.witness.has(op))
      notes.push(['witness', 'one of those that contradict each other']);
    const at = this.points.ops.indexOf(op);
    if (at >= 0) notes.push(['in the order shown', `step ${grouped(at + 1)}`]);
    const said = (this.operations.notes[op] ?? []).map((text) => ['note', text]);
    return [...notes, ...said, ...this.interleaving.span(op)];
  }
}

/** The order of a good history, with the states of its first steps. */
function wholeOrder(order) {
  const steps = Array.from(decodeOrder(order), (op, at) => ({ op, state: order.states[at] }));
  return { before: undefined, done: [], stuck: [], steps };
}

if (typeof document !== 'undefined') {
  const page = new Page(JSON.parse(byId('data').textContent));
  page.start();
  // Errors from here on leave the page readable.
  window.onerror = null;
  // For tests and the console.
  window.interlap = page;
}
