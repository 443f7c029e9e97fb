// The timeline: the visible part of the history, moved by pointer, wheel and keys. `draw.js` draws
// the boxes.

const ZOOM = 1.5;

class Timeline {
  constructor(page) {
    this.page = page;
    this.canvas = byId('timeline');
    this.map = byId('minimap');
    this.frame = byId('timeline-frame');
    this.tip = byId('tip');
    this.picture = new Picture(page);
    this.view = { low: 0, high: page.scale.total, width: 0, height: 0, top: 0 };
    this.frames = [];
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.frame);
    this.resize();
  }

  resize() {
    const all = AXIS + this.page.operations.rows.length * ROW;
    const height = Math.min(all, Math.max(200, window.innerHeight * 0.6));
    byId('timeline-all').style.height = `${Math.max(0, all - height)}px`;
    this.frame.style.height = `${height}px`;
    this.view.width = this.frame.clientWidth;
    this.view.height = height;
    // The frame may have a scroll bar; the map has none.
    this.mapWidth = this.map.clientWidth;
    this.mapDrawn = null;
    this.redraw();
  }

  /** Requests a redraw before the next frame; several requests give one redraw. */
  redraw() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      const before = performance.now();
      this.view.top = this.frame.scrollTop;
      this.picture.draw(sharp(this.canvas, this.view.width, this.view.height), this.view);
      this.drawMap();
      this.frames.push(performance.now() - before);
      if (this.frames.length > 1000) this.frames.shift();
    });
  }

  recolor() {
    this.picture.colors = palette();
    this.mapDrawn = null;
    this.redraw();
  }

  /** Shows the range between two places, clamped to the history. */
  show(low, high) {
    const { total } = this.page.scale;
    const least = Math.min(total, Math.max(2, total / 1e7));
    // Pending calls need some room on the right.
    const length = Math.min(Math.max(high - low, least), total * 1.2);
    const from = Math.min(Math.max(low, -0.02 * total), 1.18 * total - length);
    Object.assign(this.view, { low: from, high: from + length });
    this.redraw();
  }

  zoom(factor, at = (this.view.low + this.view.high) / 2) {
    const { low, high } = this.view;
    this.show(at - (at - low) / factor, at + (high - at) / factor);
  }

  pan(share) {
    const by = (this.view.high - this.view.low) * share;
    this.show(this.view.low + by, this.view.high + by);
  }

  showWhole() {
    const { operations, scale } = this.page;
    const open = operations.rows.some((row) => row.open.length > 0);
    this.show(0, scale.total * (open ? 1.08 : 1));
  }

  /** Shows these operations with a margin. */
  showAll(ops) {
    const { operations, scale } = this.page;
    if (ops.length === 0) return this.show(0, scale.total);
    let [low, high] = [Infinity, 0];
    for (const op of ops) {
      const end = operations.end[op] === Infinity ? operations.start[op] : operations.end[op];
      low = Math.min(low, scale.place(operations.start[op]));
      high = Math.max(high, scale.place(end));
    }
    const room = Math.max((high - low) * 0.12, 2);
    return this.show(low - room, high + room);
  }

  /** Scrolls to the row of an operation, if it is not visible. */
  scrollTo(op) {
    const y = this.page.operations.row[op] * ROW;
    const room = this.view.height - AXIS - ROW;
    if (y < this.frame.scrollTop || y > this.frame.scrollTop + room) {
      this.frame.scrollTop = y - room / 2;
    }
  }

  /** Makes an operation visible without changing the zoom. */
  reveal(op) {
    const { operations, scale } = this.page;
    const from = scale.place(operations.start[op]);
    const to = scale.place(Math.min(operations.end[op], operations.last));
    const { low, high } = this.view;
    const length = high - low;
    if (from < low || (to > high && from > low + length / 2)) {
      this.show(from - length * 0.3, from + length * 0.7);
    }
    this.scrollTo(op);
    this.redraw();
  }

  place(x) {
    const { low, high, width } = this.view;
    return low + ((x - GUTTER) / (width - GUTTER)) * (high - low);
  }

  /** The operation at a point of the canvas; -1 if there is none. */
  at(x, y) {
    const { operations, scale } = this.page;
    const row = operations.rows[Math.floor((y - AXIS + this.view.top) / ROW)];
    if (!row || x < GUTTER || y < AXIS) return -1;
    const slack = (2 * (this.view.high - this.view.low)) / this.view.width;
    const time = scale.time(this.place(x) + slack);
    const at = lowest(row.ops.length, (i) => operations.start[row.ops[i]] > time) - 1;
    const reaches = (op) => scale.place(operations.end[op]) >= this.place(x) - slack;
    if (at >= 0 && reaches(row.ops[at])) return row.ops[at];
    return row.open.findLast((op) => operations.start[op] <= time) ?? -1;
  }

  /** The last annotation that begins before a point of the row of annotations. */
  annotationAt(x, y) {
    const { operations, scale } = this.page;
    const inRow = y >= AXIS && y + this.view.top < AXIS + ROW && x >= GUTTER;
    const slack = (4 * (this.view.high - this.view.low)) / this.view.width;
    const time = scale.time(this.place(x) + slack);
    return inRow ? operations.annotations.findLast(({ start }) => start <= time) : undefined;
  }

  drawMap() {
    const { page, map, view } = this;
    const { operations, scale } = page;
    const [width, height] = [this.mapWidth, 36];
    const context = sharp(map, width, height);
    const { colors } = this.picture;
    const x = (place) => (place / scale.total) * width;
    if (!this.mapDrawn || this.mapDrawn.width !== width) {
      const counts = new Uint32Array(Math.ceil(width));
      for (let op = 0; op < operations.count; op++) {
        counts[Math.min(counts.length - 1, Math.floor(x(scale.place(operations.start[op]))))]++;
      }
      const most = counts.reduce((a, b) => Math.max(a, b), 1);
      this.mapDrawn = { width, counts, most };
    }
    const { counts, most } = this.mapDrawn;
    context.fillStyle = colors.weak;
    context.fillRect(0, 0, width, height);
    context.fillStyle = colors['box-line'];
    counts.forEach((count, at) => {
      const high = count === 0 ? 0 : 3 + (height - 12) * Math.sqrt(count / most);
      context.fillRect(at, height - high, 1, high);
    });
    context.fillStyle = colors.bad;
    for (const op of page.marked) {
      const at = x(scale.place(operations.start[op]));
      context.beginPath();
      context.moveTo(at - 4, 0);
      context.lineTo(at + 4, 0);
      context.lineTo(at, 7);
      context.fill();
    }
    context.strokeStyle = colors.focus;
    context.lineWidth = 2;
    const left = x(view.low);
    context.strokeRect(left, 1, Math.max(4, x(view.high) - left), height - 2);
  }

  listen() {
    const { canvas, map, frame } = this;
    frame.addEventListener('scroll', () => this.redraw());
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('wheel', (event) => this.wheel(event), { passive: false });
    canvas.addEventListener('dblclick', (event) => this.zoom(2 * ZOOM, this.place(event.offsetX)));
    this.drag();
    canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
    });
    canvas.addEventListener('focus', () => {
      if (this.page.selected < 0) say('Arrow keys go from call to call. Press + or - to zoom.');
    });
    const jump = (event) => {
      if (event.buttons === 0) return;
      const middle = (event.offsetX / this.mapWidth) * this.page.scale.total;
      const half = (this.view.high - this.view.low) / 2;
      this.show(middle - half, middle + half);
    };
    map.addEventListener('pointerdown', (event) => {
      map.setPointerCapture(event.pointerId);
      jump(event);
    });
    map.addEventListener('pointermove', jump);
  }

  /** One pointer moves, two zoom; a press without a move selects. */
  drag() {
    const { canvas } = this;
    const held = new Map();
    let moved = 0,
      apart = 0;
    canvas.addEventListener('pointerdown', (event) => {
      canvas.setPointerCapture(event.pointerId);
      held.set(event.pointerId, event);
      moved = apart = 0;
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!held.has(event.pointerId)) return this.hover(event);
      const dx = event.offsetX - held.get(event.pointerId).offsetX;
      held.set(event.pointerId, event);
      moved += Math.abs(dx);
      const [one, two] = [...held.values()];
      if (two) {
        const now = Math.abs(one.offsetX - two.offsetX);
        if (apart > 0) this.zoom(now / apart, this.place((one.offsetX + two.offsetX) / 2));
        apart = Math.max(now, 1);
      } else if (moved > 3) this.pan(-dx / (this.view.width - GUTTER));
      return undefined;
    });
    canvas.addEventListener('pointerup', (event) => {
      held.delete(event.pointerId);
      const op = moved > 3 ? -1 : this.at(event.offsetX, event.offsetY);
      if (op >= 0) this.page.select(op, { stay: true });
    });
    canvas.addEventListener('pointercancel', (event) => held.delete(event.pointerId));
  }

  hover(event) {
    const op = this.at(event.offsetX, event.offsetY);
    const annotation = op < 0 ? this.annotationAt(event.offsetX, event.offsetY) : undefined;
    this.tip.hidden = op < 0 && !annotation;
    if (this.tip.hidden) return;
    const shown = annotation ?? op;
    if (this.tipped !== shown) {
      replace(this.tip, annotation ? about(this.page, annotation) : details(this.page, op));
    }
    this.tipped = shown;
    const right = Math.max(8, window.innerWidth - this.tip.offsetWidth - 16);
    this.tip.style.left = `${Math.min(event.clientX + 14, right)}px`;
    this.tip.style.top = `${event.clientY + 18}px`;
  }

  /** Scrolling sideways moves; up and down zooms with Ctrl, or if the timeline has the focus. */
  wheel(event) {
    const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || event.shiftKey;
    const mine = event.ctrlKey || event.metaKey || document.activeElement === this.canvas;
    if (!sideways && !mine) return;
    event.preventDefault();
    const by = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (sideways) this.pan(by / this.view.width);
    else this.zoom(Math.exp(-event.deltaY * 0.002), this.place(event.offsetX));
  }

  key(event) {
    const { page } = this;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowRight: () => page.select(this.beside(1)),
      ArrowLeft: () => page.select(this.beside(-1)),
      ArrowDown: () => page.select(this.across(1)),
      ArrowUp: () => page.select(this.across(-1)),
      Home: () => page.select(0),
      End: () => page.select(page.operations.count - 1),
      PageDown: () => this.pan(0.8),
      PageUp: () => this.pan(-0.8),
      '+': () => this.zoom(ZOOM),
      '=': () => this.zoom(ZOOM),
      '-': () => this.zoom(1 / ZOOM),
      0: () => this.showWhole(),
      e: () => page.jumpToError(),
      Escape: () => page.select(-1),
    };
    const action = keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** The operation before or after the selected one in the same row. */
  beside(by) {
    const { operations, selected } = this.page;
    if (selected < 0) return this.nearest();
    const { ops } = operations.rows[operations.row[selected]];
    const at = lowest(ops.length, (i) => ops[i] >= selected) + by;
    return ops[Math.min(Math.max(at, 0), ops.length - 1)];
  }

  /** The operation of the row above or below that is nearest in time. */
  across(by) {
    const { operations, selected } = this.page;
    if (selected < 0) return this.nearest();
    const row = operations.rows[operations.row[selected] + by];
    if (!row?.size) return selected;
    const at = lowest(
      row.ops.length,
      (i) => operations.start[row.ops[i]] > operations.start[selected],
    );
    return row.ops[Math.max(at - 1, 0)];
  }

  /** A visible operation, of the witness if possible. */
  nearest() {
    const { operations, scale, marked } = this.page;
    const low = scale.time(this.view.low);
    const seen = marked.find((op) => operations.start[op] >= low);
    return seen ?? Math.min(operations.from(low), operations.count - 1);
  }
}

/** An annotation with its time. */
function about({ operations }, { text, start, end }) {
  const until = end === start ? '' : ` to ${operations.time(end)}`;
  return el('p', {}, `${text}, at ${operations.time(start)}${until}`);
}

/** The details of an operation. */
function details(page, op) {
  const { operations } = page;
  const { args } = operations.all(op);
  const [start, end] = [operations.start[op], operations.end[op]];
  const { name, absolute } = operations.unit;
  const stamp = (stamp) => (absolute ? '' : ` (stamp ${operations.stamp(stamp)})`);
  const open = end === Infinity;
  const rows = [
    ['arguments', args.length ? args.join(', ') : 'none'],
    ['result', operations.answer(op, (results) => results.join(', '))],
    ['called at', `${operations.time(start)} ${name}${stamp(start)}`],
    ['returned at', open ? 'never' : `${operations.time(end)}${stamp(end)}`],
    ['took', open ? 'no end' : `${operations.lasting(end - start)} ${name}`],
    ...page.notes(op),
  ];
  return el(
    'div',
    { class: 'details' },
    el('p', {}, callText(page, op), ` · ${operations.thread(op)}`),
    el(
      'dl',
      {},
      rows.flatMap(([name, value]) => [el('dt', {}, name), el('dd', {}, value)]),
    ),
  );
}
