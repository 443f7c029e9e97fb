// Draws the visible operations as boxes on a canvas. A row costs at most as many steps as it has
// pixels, however many operations it has.

const ROW = 28,
  BOX = 20,
  GUTTER = 92,
  AXIS = 26;

/** The page's colours, which change with the theme. */
function palette() {
  const style = getComputedStyle(document.documentElement);
  const names = [
    'ground',
    'text',
    'muted',
    'line',
    'box',
    'box-line',
    'weak',
    'near',
    'bad',
    'bad-fill',
    'focus',
    'order',
  ];
  return Object.fromEntries(
    names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  );
}

/** Sizes a canvas to the screen's resolution. Returns its context, scaled to CSS pixels. */
function sharp(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

class Picture {
  constructor(page) {
    this.page = page;
    this.colors = palette();
  }

  /** Draws the visible part: `view` has low, high (places), width, height, top. */
  draw(context, view) {
    const { operations, scale } = this.page;
    Object.assign(this, { context, view });
    this.per = (view.width - GUTTER) / (view.high - view.low);
    context.fillStyle = this.colors.ground;
    context.fillRect(0, 0, view.width, view.height);
    context.font = '12px ui-monospace, Menlo, Consolas, monospace';
    context.textBaseline = 'middle';
    this.gaps(scale.gaps(view.low, view.high));
    const first = Math.floor(view.top / ROW);
    const last = Math.min(operations.rows.length, Math.ceil((view.top + view.height - AXIS) / ROW));
    context.save();
    context.beginPath();
    context.rect(GUTTER, AXIS, view.width - GUTTER, view.height - AXIS);
    context.clip();
    // Boxes hide the lines of the order, so that these cross no label.
    const points = this.orderLines();
    this.flags = [];
    for (let row = first; row < last; row++) this.row(row);
    this.annotations();
    this.orderPoints(points);
    this.flags.forEach((flag) => this.flag(flag));
    this.cursor();
    context.restore();
    this.names(first, last);
    this.axis();
  }

  x(time) {
    return GUTTER + (this.page.scale.place(time) - this.view.low) * this.per;
  }

  y(row) {
    return AXIS + row * ROW - this.view.top + (ROW - BOX) / 2;
  }

  gaps(gaps) {
    const { context, view } = this;
    for (const { from, to, time } of gaps) {
      const left = GUTTER + (from - view.low) * this.per;
      const width = Math.max(1, (to - from) * this.per);
      context.fillStyle = this.colors.weak;
      context.fillRect(left, AXIS, width, view.height);
      const text = `idle ${this.page.operations.lasting(time)}`;
      if (width > context.measureText(text).width + 8) {
        context.fillStyle = this.colors.muted;
        context.fillText(text, left + 4, view.height - 8);
      }
    }
  }

  /** What was said besides the operations: a line at its start, a bar for its time, its text. */
  annotations() {
    const { context, colors, view } = this;
    const { annotations } = this.page.operations;
    const y = this.y(0);
    annotations.forEach(({ text, start, end }, at) => {
      const left = this.x(start);
      const right = Math.min(end === Infinity ? view.width : this.x(end), view.width);
      const next = annotations[at + 1] ? this.x(annotations[at + 1].start) : view.width;
      if (right < GUTTER || left > view.width) return;
      context.fillStyle = colors.near;
      context.fillRect(left, AXIS, 1, view.height);
      context.fillRect(left, y + BOX - 3, Math.max(right - left, 3), 3);
      if (end !== start && end !== Infinity) context.fillRect(right, AXIS, 1, view.height);
      context.save();
      context.beginPath();
      const from = Math.max(left, GUTTER);
      context.rect(from, y, Math.max(Math.min(next, view.width) - from - 4, 0), BOX);
      context.clip();
      context.fillStyle = colors.text;
      context.fillText(text, from + 4, y + BOX / 2 - 2);
      context.restore();
    });
  }

  row(row) {
    const { operations, scale } = this.page;
    const { ops, open } = operations.rows[row];
    const { view, context } = this;
    const [low, high] = [scale.time(view.low), scale.time(view.high)];
    context.fillStyle = this.colors.line;
    context.fillRect(GUTTER, this.y(row) + BOX + (ROW - BOX) / 2 - 1, view.width, 1);
    for (const op of open) {
      if (operations.start[op] < low && this.until(op, row) > low) this.box(op, row);
    }
    // The first that ends in the view. Pending ones are drawn above, or come later.
    let at = lowest(ops.length, (i) => operations.start[ops[i]] >= low);
    if (at > 0 && operations.end[ops[at - 1]] >= low) at--;
    const pixel = (view.high - view.low) / (view.width - GUTTER);
    while (at < ops.length && operations.start[ops[at]] <= high) {
      const op = ops[at];
      const place = scale.place(operations.start[op]);
      const end = Math.min(operations.end[op], operations.last);
      if ((scale.place(end) - place) / pixel >= 3) {
        this.box(op, row);
        at++;
        continue;
      }
      // Too small to distinguish: one stroke for all within a pixel or two.
      const until = scale.time(place + 2 * pixel);
      const next = Math.max(
        at + 1,
        lowest(ops.length, (i) => operations.start[ops[i]] > until),
      );
      const [some, bad] = this.among(ops, at, next);
      this.stroke(row, place, next - at, some, bad);
      at = next;
    }
  }

  /** For several operations: one that represents them, and whether one is in the witness. */
  among(ops, from, to) {
    for (const op of this.page.marked) {
      const at = lowest(ops.length, (i) => ops[i] >= op);
      if (at >= from && at < to && ops[at] === op) return [op, true];
    }
    return [ops[from], false];
  }

  stroke(row, place, count, op, bad) {
    const { context, colors } = this;
    const x = GUTTER + (place - this.view.low) * this.per;
    context.fillStyle = bad ? colors.bad : colors['box-line'];
    context.fillRect(x, this.y(row), bad ? 3 : 2, BOX);
    if (bad) this.flags.push([x + 3, this.y(row), this.mark(op)]);
  }

  box(op, row) {
    const { context, colors, page } = this;
    const { operations } = page;
    const open = operations.end[op] === Infinity;
    const left = Math.max(this.x(operations.start[op]), GUTTER - 20);
    const until = this.until(op, row);
    const far = this.view.width + 20;
    const right = until === Infinity ? far : Math.min(this.x(until) - (open ? 4 : 0), far);
    const [y, width] = [this.y(row), Math.max(right - left, 3)];
    const bad = operations.witness.has(op),
      failed = page.failed === op;
    const weak = !['ok', 'pending', 'unknown'].includes(operations.status(op));
    context.fillStyle = bad ? colors['bad-fill'] : weak ? colors.ground : colors.box;
    context.strokeStyle = bad ? colors.bad : page.near.has(op) ? colors.near : colors['box-line'];
    context.lineWidth = failed ? 3 : bad ? 2 : 1;
    context.setLineDash(open ? [6, 4] : []);
    context.beginPath();
    (context.roundRect ?? context.rect).call(context, left, y, width, BOX, 3);
    context.fill();
    context.stroke();
    context.setLineDash([]);
    if (page.near.has(op)) {
      context.fillStyle = bad ? colors.bad : colors.near;
      context.fillRect(left, y + BOX - 3, width, 3);
    }
    if (page.selected === op) this.ring(left, y, width);
    this.words(op, left, y, width);
  }

  /** When the box of an operation ends: where it is open, at the next one of its thread. */
  until(op, row) {
    const { operations } = this.page;
    if (operations.end[op] !== Infinity) return operations.end[op];
    const { ops } = operations.rows[row];
    const next = lowest(ops.length, (i) => operations.start[ops[i]] > operations.start[op]);
    return next < ops.length ? operations.start[ops[next]] : Infinity;
  }

  ring(left, y, width) {
    const { context, colors } = this;
    context.strokeStyle = colors.focus;
    context.lineWidth = 2.5;
    context.strokeRect(left - 3, y - 3, width + 6, BOX + 6);
  }

  /** "✕ A": whether no order explains its answer, and its letter in the explanation. */
  mark(op) {
    const { page } = this;
    const letter = page.operations.letters.get(op) ?? '';
    return [page.failed === op ? '✕' : '', letter].filter((part) => part !== '').join(' ');
  }

  words(op, left, y, width) {
    const { context, colors, page } = this;
    const mark = this.mark(op);
    if (mark !== '' && width < context.measureText(mark).width + 8) {
      this.flags.push([left + width + 2, y, mark]);
      return;
    }
    if (width < 14) return;
    const from = Math.max(left, GUTTER);
    const text = `${mark} ${page.operations.label(op)}`.trimStart();
    context.save();
    context.beginPath();
    context.rect(from, y, Math.max(left + width - from - 2, 0), BOX);
    context.clip();
    context.fillStyle = colors.text;
    context.fillText(text, from + 4, y + BOX / 2 + 1);
    context.restore();
  }

  /** The mark of a box that is too narrow for it, beside the box. */
  flag([x, y, text]) {
    const { context, colors } = this;
    context.fillStyle = colors['bad-fill'];
    context.fillRect(x, y + 2, context.measureText(text).width + 4, BOX - 4);
    context.fillStyle = colors.bad;
    context.fillText(text, x + 2, y + BOX / 2 + 1);
  }

  /** Lines that join the points of the chosen order. Returns the points: x, y and number. */
  orderLines() {
    const { context, colors, page, view } = this;
    const { times, ops } = page.points;
    const first = lowest(times.length, (i) => this.x(times[i]) >= GUTTER - 50);
    const last = lowest(times.length, (i) => this.x(times[i]) > view.width + 50);
    // The eye could not follow more.
    if (last - first > 400) return [];
    context.strokeStyle = colors.order;
    context.lineWidth = 1.5;
    context.beginPath();
    const shown = [];
    for (let i = Math.max(0, first - 1); i < Math.min(times.length, last + 1); i++) {
      const [x, y] = [this.x(times[i]), this.y(page.operations.row[ops[i]]) + BOX];
      if (shown.length === 0) context.moveTo(x, y);
      else context.lineTo(x, y);
      shown.push([x, y, i + 1]);
    }
    context.stroke();
    return shown;
  }

  orderPoints(points) {
    const { context } = this;
    context.fillStyle = this.colors.order;
    for (const [x, y, number] of points) {
      context.beginPath();
      context.arc(x, y, 3, 0, 7);
      context.fill();
      if (points.length < 60) context.fillText(String(number), x + 4, y + 5);
    }
  }

  /** The time that another part of the page points at. */
  cursor() {
    if (this.page.moment === null) return;
    const x = this.x(this.page.moment);
    this.context.fillStyle = this.colors.focus;
    this.context.fillRect(x, AXIS, 2, this.view.height);
  }

  names(first, last) {
    const { context, colors, page } = this;
    context.fillStyle = colors.ground;
    context.fillRect(0, 0, GUTTER, this.view.height);
    context.fillStyle = colors.text;
    for (let row = first; row < last; row++) {
      context.fillText(page.operations.names[row], 8, this.y(row) + BOX / 2 + 1, GUTTER - 12);
    }
  }

  axis() {
    const { context, colors, page, view } = this;
    context.fillStyle = colors.ground;
    context.fillRect(0, 0, view.width, AXIS);
    context.fillStyle = colors.muted;
    const { factor, zero } = page.operations.unit;
    let free = GUTTER - 40;
    const [low, high] = [view.low, view.high].map(
      (place) => zero + page.scale.time(place) * factor,
    );
    for (const tick of ticks(low, high, view.width / 110)) {
      const x = this.x((tick - zero) / factor);
      if (x < Math.max(free, GUTTER)) continue;
      const text = grouped(tick);
      context.fillRect(x, AXIS - 6, 1, 6);
      context.fillText(text, x + 3, AXIS / 2 - 2);
      free = x + context.measureText(text).width + 16;
    }
    context.fillRect(GUTTER, AXIS - 1, view.width, 1);
  }
}
