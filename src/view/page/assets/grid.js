// The paths of the search to the failure, read from their end: a row for each step, the last one
// first, and a column for each thread, or one for all of many. A pin is a reader's assumption that
// a step is at a place; it narrows the paths to those that agree.

const ROWS_FIRST = 6;
/** With more threads, most columns would be empty and the states squeezed. */
const COLUMNS_MAX = 5;

class Grid {
  constructor(page) {
    this.page = page;
    this.search = page.search;
    if (!this.search || page.data.verdict === 'consistent') return;
    byId('grid').hidden = false;
    this.pins = new Map();
    this.rows = ROWS_FIRST;
    this.revealed = false;
    const threads = [...new Set(this.search.steps.map(({ op }) => page.operations.row[op]))];
    threads.sort((a, b) => a - b);
    this.merged = threads.length > COLUMNS_MAX;
    this.columns = this.merged
      ? [{ name: 'Operation', rows: threads }]
      : threads.map((row) => ({ name: page.operations.names[row], rows: [row] }));
    this.narrow();
    this.controls();
    this.fill();
  }

  /** Finds the paths that agree with the pins, and one to show; false if there is none. */
  narrow() {
    const ways = this.search.ways(this.pins);
    if (ways === null) return false;
    this.ways = ways;
    const kept =
      this.path && ways.ends.includes(this.path.at(-1).node) ? this.path.at(-1).node : ways.ends[0];
    this.choose(kept, []);
    return true;
  }

  /** Sets the path shown: `suffix` stays; before `node`, former steps if possible. */
  choose(node, suffix) {
    const path = [...suffix];
    for (let at = node; ;) {
      const arrivals = this.search.arrivals(at, this.ways);
      const old = this.path?.find((one) => one.node === at);
      const by =
        arrivals.find(({ from, step }) => from === old?.from && step === old?.step) ?? arrivals[0];
      path.unshift({ node: at, from: by?.from ?? -1, step: by?.step ?? -1 });
      if (!by) break;
      at = by.from;
    }
    this.path = path;
  }

  controls() {
    const set = (change) => () => {
      change();
      this.controls();
      this.fill();
    };
    const most = this.path.length;
    const step = (by) =>
      set(() => {
        this.rows = Math.min(Math.max(this.rows + by, 1), most);
      });
    replace(
      byId('grid-controls'),
      button('+1 row', { 'data-key': 'more', onclick: step(1), disabled: this.rows >= most }),
      button('−1 row', { 'data-key': 'less', onclick: step(-1), disabled: this.rows <= 1 }),
      button('All rows', { 'data-key': 'all', onclick: step(most), disabled: this.rows >= most }),
      el(
        'label',
        {},
        el('input', {
          type: 'checkbox',
          'data-key': 'reveal',
          checked: this.revealed,
          onchange: set(() => {
            this.revealed = !this.revealed;
          }),
        }),
        ' Reveal stalled operations',
      ),
      button('Drop all assumptions', {
        'data-key': 'drop',
        disabled: this.pins.size === 0,
        onclick: set(() => {
          this.pins.clear();
          this.narrow();
        }),
      }),
    );
  }

  fill() {
    const { ways, path } = this;
    const total = ways.ends.reduce((sum, end) => sum + ways.reached.get(end), 0);
    const end = path.at(-1).node;
    const depth = path.length - 1;
    const assumed = this.pins.size ? ` under ${counted(this.pins.size, 'assumption')}` : '';
    byId('grid-summary').textContent =
      `${counted(total, 'longest way')} of ${counted(depth, 'step')}${assumed}, ` +
      `ending in ${counted(ways.ends.length, 'configuration')}.` +
      (this.search.cut ? ` Not all: ${this.search.cut}.` : '');
    const heads = ['Step', 'State', ...this.columns.map(({ name }) => name), 'Ways'];
    const rows = [this.lastRow(end)];
    const shown = Math.min(this.rows, path.length);
    for (let at = depth; at > depth - shown && at >= 0; at--) rows.push(this.row(at));
    const caption = 'From the end backwards: how it came to a stop. The last step is on top.';
    replace(byId('grid-table'), table(caption, heads, rows));
    const left = path.length - shown;
    byId('grid-more').textContent = left > 0 ? `${counted(left, 'earlier row')} not shown.` : '';
  }

  /** Where the path ends, and the other ends. */
  lastRow(end) {
    const { ends } = this.ways;
    const found = this.search.found === end;
    const choice =
      ends.length === 1
        ? ''
        : el(
            'label',
            {},
            'End ',
            el(
              'select',
              {
                'data-key': 'end',
                onchange: (event) => {
                  this.choose(Number(event.target.value), []);
                  this.fill();
                },
              },
              ends.map((one, i) =>
                el(
                  'option',
                  { value: one, selected: one === end },
                  `${i + 1} of ${ends.length}: ${this.search.state(one)}`,
                ),
              ),
            ),
          );
    return el(
      'tr',
      { class: 'end' },
      el('th', { scope: 'row' }, found ? '✓ done' : '✕ stuck'),
      el('td', {}, choice),
      this.columns.map(({ rows }) => el('td', {}, this.stalled(end, rows))),
      el('td', {}),
    );
  }

  /** What a step is called: in a column of many threads with its own. */
  label(step) {
    const thread = this.page.operations.names[this.rowOf(step)];
    return this.search.label(step) + (this.merged ? ` by ${thread}` : '');
  }

  /** The operations of these threads that only their answers keep from being next at a node. */
  stalled(node, rows) {
    const { page, search } = this;
    const own = search.stuck(node).filter(({ op }) => rows.includes(page.operations.row[op]));
    return own.map(({ step, answer }) =>
      el(
        'div',
        { class: 'stalled' },
        '✕ ',
        el('code', {}, this.label(step)),
        el('small', {}, ` would have answered ${answer}`),
      ),
    );
  }

  row(at) {
    const { search, path, ways } = this;
    const { node, from, step } = path[at];
    const arrivals = from < 0 ? [] : search.arrivals(node, ways);
    const depth = search.nodes[node].depth;
    const before = from < 0 ? null : search.state(from);
    const count = ways.reached.get(node) * ways.left.get(node);
    const isChosen = (one) => one.step === step && one.from === from;
    return el(
      'tr',
      { class: this.pins.has(depth) ? 'pinned' : null },
      el('th', { scope: 'row' }, from < 0 ? 'before' : String(at)),
      el('td', { class: 'state-cell' }, stateText(before, search.state(node))),
      this.columns.map(({ rows }) =>
        el(
          'td',
          {},
          arrivals
            .filter((one) => rows.includes(this.rowOf(one.step)))
            .map((one) => this.candidate(at, one, isChosen(one), arrivals)),
          this.revealed ? this.stalled(node, rows) : null,
        ),
      ),
      el('td', { class: 'number' }, grouped(count)),
    );
  }

  rowOf(step) {
    return this.page.operations.row[this.search.steps[step].op];
  }

  /** A step that can be the last one here: the chosen one, or one to choose. */
  candidate(at, { from, step }, chosen, arrivals) {
    const { search, page } = this;
    const depth = search.nodes[this.path[at].node].depth;
    const pinned = this.pins.get(depth) === step;
    // The same step can lead here from several states.
    const several = arrivals.filter((one) => one.step === step).length > 1;
    const whence = several ? `, from ${search.state(from)}` : '';
    const pin = pinned ? 'Drop the assumption' : 'Assume';
    const choose = () => {
      if (chosen) page.select(search.steps[step].op);
      else {
        const suffix = this.path.slice(at + 1);
        const { node } = this.path[at];
        this.choose(from, [{ node, from, step }, ...suffix]);
        this.fill();
        say(`Step ${at} is now ${search.label(step)}, from ${search.state(from)}.`);
      }
    };
    return el(
      'div',
      { class: `candidate ${chosen ? 'chosen' : ''}` },
      button(`${chosen ? '●' : '○'} ${this.label(step)}${whence}`, {
        'data-key': `${at}-${from}-${step}`,
        'aria-pressed': String(chosen),
        title: chosen ? 'chosen; press to select it' : 'choose this one',
        onclick: choose,
      }),
      chosen
        ? button(pinned ? 'Unpin' : 'Pin', {
            class: 'pin',
            'data-key': `pin-${at}`,
            'aria-pressed': String(pinned),
            'aria-label': `${pin} that step ${at} was ${search.label(step)}`,
            onclick: () => this.pin(depth, step),
          })
        : null,
    );
  }

  pin(depth, step) {
    if (this.pins.get(depth) === step) this.pins.delete(depth);
    else this.pins.set(depth, step);
    if (!this.narrow()) {
      this.pins.delete(depth);
      this.narrow();
    }
    this.controls();
    this.fill();
    say(byId('grid-summary').textContent);
  }
}
