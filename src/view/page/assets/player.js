// Plays the search move by move: what it tries, takes, refuses and gives up.

class Player {
  constructor(page) {
    this.page = page;
    this.search = page.search;
    if (!this.search) return;
    this.log = this.search.log();
    this.at = 0;
    this.timer = null;
    byId('search').hidden = false;
    this.intro();
    this.controls();
    this.show(0);
  }

  intro() {
    const { search, page } = this;
    const { partials } = page.data;
    const key = partials?.key ? ` on key ${partials.key}` : '';
    const few = search.isOfAll() ? 'all operations' : 'the first operations';
    const what = partials ? `the operations${key} near the failure` : few;
    byId('search-intro').textContent =
      `A depth-first search for an order of ${what}: it takes a step ` +
      'that can be next, goes on from the state that it leaves, and goes back where nothing can ' +
      `follow, never twice through the same configuration. ${grouped(search.nodes.length)} ` +
      `configurations, ${grouped(this.log.length)} moves.` +
      (search.cut ? ` It was cut: ${search.cut}; the verdict does not rest on it.` : '');
  }

  controls() {
    const go = (by) => () => {
      this.pause();
      this.show(this.at + by);
    };
    const to = (kinds, by) => () => {
      this.pause();
      this.jump(kinds, by);
    };
    this.slider = el('input', {
      type: 'range',
      min: 0,
      max: this.log.length - 1,
      value: 0,
      'aria-label': 'Move of the search',
      oninput: () => {
        this.pause();
        this.show(Number(this.slider.value));
      },
    });
    this.play = button('▶ Play', { onclick: () => this.toggle() });
    this.speed = el(
      'select',
      {},
      [
        [1400, 'slow'],
        [600, 'medium'],
        [120, 'fast'],
      ].map(([ms, name]) => el('option', { value: ms, selected: name === 'medium' }, name)),
    );
    byId('search-controls').append(
      button('Start', { onclick: go(-Infinity) }),
      button('◀ Back', { onclick: go(-1) }),
      this.play,
      button('Next ▶', { onclick: go(1) }),
      button('End', { onclick: go(Infinity) }),
      button('Next dead end', { onclick: to(['stuck'], 1) }),
      button('Longest order', {
        onclick: () => {
          this.pause();
          this.longest();
        },
      }),
      el('label', {}, 'Pace ', this.speed),
      this.slider,
    );
    byId('search').addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== byId('search-stage'))
      return;
    const keys = {
      ArrowRight: () => this.show(this.at + 1),
      ArrowLeft: () => this.show(this.at - 1),
      Home: () => this.show(0),
      End: () => this.show(Infinity),
      ' ': () => this.toggle(),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    if (event.key !== ' ') this.pause();
    action();
  }

  toggle() {
    if (this.timer !== null) return this.pause();
    if (this.at === this.log.length - 1) this.show(0);
    this.play.textContent = '❚❚ Pause';
    const tick = () => {
      this.show(this.at + 1);
      if (this.at === this.log.length - 1) this.pause();
      else this.timer = setTimeout(tick, Number(this.speed.value));
    };
    this.timer = setTimeout(tick, 200);
    return undefined;
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = '▶ Play';
  }

  jump(kinds, by) {
    for (let at = this.at + by; at >= 0 && at < this.log.length; at += by) {
      if (kinds.includes(this.log[at].kind)) return this.show(at);
    }
    return say('There is none.');
  }

  longest() {
    const end = this.search.found ?? this.search.ends()[0];
    const at = this.log.findIndex(
      (move) => move.node === end && ['stuck', 'found'].includes(move.kind),
    );
    if (at >= 0) this.show(at);
  }

  show(at) {
    this.at = Math.min(Math.max(at, 0), this.log.length - 1);
    const move = this.log[this.at];
    this.slider.value = this.at;
    const here = move.kind === 'taken' ? move.to : move.node;
    const sentence = this.sentence(move);
    this.slider.setAttribute(
      'aria-valuetext',
      `Move ${this.at + 1} of ${this.log.length}: ${sentence}`,
    );
    byId('search-move').textContent =
      `Move ${grouped(this.at + 1)} of ${grouped(this.log.length)}. ${sentence}`;
    byId('search-stage').dataset.kind = move.kind;
    this.path(here);
    this.candidates(move);
  }

  sentence({ kind, node, step, to, answer }) {
    const { search } = this;
    const label = step === undefined ? '' : search.label(step);
    const by =
      step === undefined ? '' : ` of ${this.page.operations.by(search.steps[step].op)}`;
    const state = search.state(node);
    return {
      begin: () => `Begins in state ${state}.`,
      taken: () => `Takes ${label}${by}: ${state} becomes ${search.state(to)}.`,
      refused: () =>
        `Rejects ${label}${by}: in state ${state} the object would have answered ${answer}.`,
      seen: () =>
        `Rejects ${label}${by}: it leads to state ${search.state(to)} with the same operations ` +
        'done, where the search has been.',
      stuck: () => `Dead end in state ${state}: nothing can be next. Goes back.`,
      back: () => `Goes back to before ${label}${by}, in state ${state}.`,
      found: () => `Done: every operation that had returned has its place. An order is found.`,
      cut: () => `The log ends here: ${search.cut}.`,
      none: () => 'Every way was tried: no order explains these answers.',
    }[kind]();
  }

  /** The operations that have taken effect, and the state after them. */
  path(node) {
    const { search } = this;
    const nodes = search.path(node);
    const chips = nodes
      .slice(1)
      .map((at, i) =>
        el('li', {}, el('code', {}, `${i + 1}. ${search.label(search.nodes[at].by)}`)),
      );
    const before = nodes.length > 1 ? search.state(nodes.at(-2)) : null;
    replace(
      byId('search-path'),
      el('p', {}, el('b', {}, 'Order so far: '), chips.length ? '' : 'nothing yet'),
      el('ol', { class: 'chips' }, chips),
      el('p', {}, el('b', {}, 'State: '), stateText(before, search.state(node))),
    );
  }

  /** Every step of the window, with its status at this move. */
  candidates(move) {
    const { search, page } = this;
    // Steps tried earlier at the same node have their result.
    const known = new Map();
    for (const one of this.log.slice(0, this.at)) {
      if (one.node === move.node && one.step !== undefined) known.set(one.step, one);
    }
    const place = new Map(
      search
        .path(move.node)
        .slice(1)
        .map((at, i) => [search.nodes[at].by, i + 1]),
    );
    const rows = search.steps.map(({ op }, step) => {
      const now = move.step === step && move.kind !== 'back';
      const [sign, text] = this.standing(move, step, now ? move : known.get(step), place.get(step));
      return el(
        'tr',
        { class: `${now ? 'now ' : ''}${sign.kind}` },
        el('th', { scope: 'row' }, callButton(page, op, `search-${step}`)),
        el('td', { class: 'thread' }, page.operations.thread(op)),
        el('td', { class: 'words' }, `${sign.sign} ${text}`),
      );
    });
    replace(
      byId('search-table'),
      table('Where each operation stands', ['Operation', 'Thread', 'At this move'], rows),
    );
  }

  standing(move, step, known, place) {
    const { search } = this;
    const { node } = move;
    if (place !== undefined)
      return [{ kind: 'done', sign: '✓' }, `has taken effect, number ${place}`];
    if (search.isDone(node, step)) {
      return [{ kind: 'done', sign: '✓' }, 'had taken effect before'];
    }
    const waits = search.waitsFor(node, step);
    if (waits) return [{ kind: 'waits', sign: '…' }, `no candidate: ${waits}`];
    if (known?.kind === 'refused') {
      return [{ kind: 'refused', sign: '✕' }, `rejected: would have answered ${known.answer}`];
    }
    if (known?.kind === 'seen')
      return [{ kind: 'refused', sign: '=' }, 'rejected: the search has been there'];
    if (known === move) return [{ kind: 'taken', sign: '●' }, 'candidate, chosen'];
    if (known) return [{ kind: 'refused', sign: '✕' }, 'tried; led to dead ends only'];
    return [
      { kind: 'able', sign: '○' },
      search.steps[step].must ? 'candidate' : 'candidate, but need not take effect yet',
    ];
  }
}
