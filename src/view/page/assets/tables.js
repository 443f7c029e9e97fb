// The table of all operations, an alternative to the timeline; and the interleaving, step by step.
// Rows select operations.

class OperationsTable {
  constructor(page) {
    this.page = page;
    this.from = 0;
    const { operations } = page;
    this.choices = [['all', 'all operations', null]];
    if (page.near.size)
      this.choices.unshift([
        'near',
        'those near the failure',
        [...page.near].sort((a, b) => a - b),
      ]);
    if (page.marked.length)
      this.choices.unshift(['marked', 'those that the explanation names', page.marked]);
    this.which = el(
      'select',
      {
        onchange: () => {
          this.from = 0;
          this.fill();
        },
      },
      this.choices.map(([value, text]) => el('option', { value }, text)),
    );
    byId('table-controls').append(el('label', {}, 'Show ', this.which));
    this.count = operations.count;
    this.fill();
  }

  list() {
    return this.choices.find(([value]) => value === this.which.value)[2];
  }

  fill() {
    const { page } = this;
    const { operations } = page;
    const list = this.list();
    const count = list ? list.length : operations.count;
    const to = Math.min(this.from + PAGE_ROWS, count);
    const rows = [];
    for (let at = this.from; at < to; at++) rows.push(this.row(list ? list[at] : at));
    const go = (from) => () => {
      this.from = Math.min(Math.max(from, 0), Math.floor((count - 1) / PAGE_ROWS) * PAGE_ROWS);
      this.fill();
    };
    const heads = [
      '#',
      'Operation',
      'Thread',
      `Called, ${operations.unit.name}`,
      'Returned',
      'Took',
      'Remarks',
    ];
    replace(
      byId('table-rows'),
      table('Operations in the order of their calls', heads, rows),
      count > PAGE_ROWS ? pager('table', this.from, PAGE_ROWS, count, go) : null,
    );
  }

  row(op) {
    const { page } = this;
    const { operations } = page;
    const [start, end] = [operations.start[op], operations.end[op]];
    const took = end === Infinity ? 'never returned' : operations.lasting(end - start);
    const remarks = page
      .notes(op)
      .map(([, text]) => text)
      .join('; ');
    return el(
      'tr',
      { class: op === page.selected ? 'selected' : null },
      el('th', { scope: 'row', class: 'number' }, grouped(op + 1)),
      el('td', {}, callButton(page, op, `table-${op}`)),
      el('td', { class: 'thread' }, operations.thread(op)),
      el('td', { class: 'number' }, operations.time(start)),
      el('td', { class: 'number' }, operations.time(end)),
      el('td', { class: 'number' }, took),
      el('td', remarks ? { class: 'words' } : {}, remarks),
    );
  }

  selected(op) {
    const list = this.list();
    const at = list ? list.indexOf(op) : op;
    if (at >= 0) this.from = Math.floor(at / PAGE_ROWS) * PAGE_ROWS;
    this.fill();
  }
}

/** The steps of the round; hidden if they are not known. */
class Interleaving {
  constructor(page) {
    this.page = page;
    this.from = 0;
    const { interleaving } = page.data;
    if (!interleaving) return;
    this.steps = interleaving.steps;
    byId('interleaving').hidden = false;
    byId('interleaving-link').hidden = false;
    const left = interleaving.left_out;
    const blocks = this.steps.some(({ what }) => /#\d/.test(what));
    const delays = this.steps.some(({ what }) => /others do not see it yet/.test(what));
    byId('interleaving-intro').textContent =
      'What each thread did, in the order of the schedule. ' +
      '⇄ marks where the turn was taken from a thread that could have gone on.' +
      (blocks ? ' #2 is the second block of memory that was allocated, #2+8 its byte 8.' : '') +
      (delays
        ? ' A store that others do not see yet is in its thread’s store buffer, as on x86: ' +
          'it may stay there until a fence or a locked instruction.'
        : '') +
      (left ? ` ${grouped(left)} steps on which nothing hangs are left out.` : '');
    this.fill();
  }

  fill() {
    const go = (from) => () => {
      const last = Math.floor((this.steps.length - 1) / PAGE_ROWS) * PAGE_ROWS;
      this.from = Math.min(Math.max(from, 0), last);
      this.fill();
    };
    const rows = this.steps.slice(this.from, this.from + PAGE_ROWS).map((step) => this.row(step));
    replace(
      byId('interleaving-rows'),
      table('The interleaving', ['Step', 'Thread', 'Operation', 'What happened', 'Where'], rows),
      this.steps.length > PAGE_ROWS
        ? pager('steps', this.from, PAGE_ROWS, this.steps.length, go)
        : null,
    );
  }

  row(step) {
    const { page } = this;
    const from = step.from ? ` from :${step.from}` : '';
    const place = step.file ? `${step.file}${step.line ? `:${step.line}` : ''}${from}` : '';
    const point = button(String(step.step), {
      class: 'link',
      'data-key': `step-${step.step}`,
      'aria-label': `Show step ${step.step} on the timeline`,
      onclick: () => page.point(step.step, step.operation),
    });
    const chosen = step.operation !== null && step.operation === page.selected;
    return el(
      'tr',
      { class: `${step.switch ? 'switch ' : ''}${chosen ? 'selected' : ''}` },
      el('th', { scope: 'row', class: 'number' }, point),
      el(
        'td',
        { class: 'thread' },
        step.switch
          ? el('b', { title: 'the turn was taken from a thread that could have gone on' }, '⇄ ')
          : null,
        step.thread,
      ),
      el(
        'td',
        {},
        step.operation === null ? '' : callButton(page, step.operation, `step-op-${step.step}`),
      ),
      el('td', { class: 'words' }, step.what),
      el(
        'td',
        { class: 'words' },
        el('code', {}, place),
        step.text ? el('pre', {}, step.text.trim()) : null,
      ),
    );
  }

  /** The first and last steps of an operation in words, if they are known. */
  span(op) {
    const own = (this.steps ?? []).filter((step) => step.operation === op);
    if (own.length === 0) return [];
    const [first, last] = [own[0].step, own.at(-1).step];
    return [['schedule', first === last ? `step ${first}` : `steps ${first} to ${last}`]];
  }

  selected(op) {
    if (!this.steps) return;
    const at = this.steps.findIndex((step) => step.operation === op);
    if (at >= 0) this.from = Math.floor(at / PAGE_ROWS) * PAGE_ROWS;
    this.fill();
  }
}
