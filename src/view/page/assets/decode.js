// Decodes the history that `page/data.rs` packed: arrays of start, end, row and shape by operation.
// Values and labels are made on demand.

/** Numbers of seven bits a byte, the lowest first. */
class Reader {
  constructor(base64) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) this.bytes[i] = text.charCodeAt(i);
    this.at = 0;
  }

  /** A number; not exact above 2^53. */
  number() {
    let value = 0,
      scale = 1,
      byte;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
      scale *= 128;
    } while (byte & 0x80);
    return value;
  }

  skip() {
    while (this.bytes[this.at++] & 0x80);
  }

  /** A signed number, exact: a BigInt if it must be. */
  signed() {
    const from = this.at;
    const value = this.number();
    if (value <= Number.MAX_SAFE_INTEGER) return value % 2 ? -(value + 1) / 2 : value / 2;
    let whole = 0n,
      shift = 0n;
    for (let at = from; at < this.at; at++, shift += 7n) {
      whole |= BigInt(this.bytes[at] & 0x7f) << shift;
    }
    return whole & 1n ? -(whole + 1n) / 2n : whole / 2n;
  }
}

/** The operations, by number: their index in the order of starts. */
class Operations {
  constructor(data) {
    const { count, shapes, packed } = data.operations;
    this.count = count;
    this.shapes = shapes.map(([name, status, said, args, results]) => ({
      name,
      status,
      said,
      args,
      results,
    }));
    this.strings = data.strings;
    this.zero = BigInt(data.zero);
    const [factor, name, absolute] = data.unit;
    // Times count from the first start; steps are absolute, as in the interleaving.
    this.unit = { factor, name, absolute, zero: absolute ? Number(data.zero) * factor : 0 };
    this.names = data.rows;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.row = new Uint32Array(count);
    this.shape = new Uint32Array(count);
    this.values = new Uint32Array(count);
    this.reader = new Reader(packed);
    this.last = data.annotations.reduce((last, [, start, end]) => Math.max(last, start, end), 0);
    this.read();
    this.rows = this.byRow();
    this.letters = new Map(data.lettered.map((op, at) => [op, String.fromCharCode(65 + at)]));
    this.witness = new Set(data.witness);
    this.annotations = data.annotations.map(([text, start, end]) => ({
      text,
      start,
      end: end < 0 ? Infinity : end,
    }));
    this.notes = data.notes;
  }

  read() {
    const reader = this.reader;
    let before = 0;
    for (let op = 0; op < this.count; op++) {
      before = this.start[op] = before + reader.number();
      this.row[op] = reader.number();
      const length = reader.number();
      this.end[op] = length === 0 ? Infinity : before + length - 1;
      const shape = (this.shape[op] = reader.number());
      this.values[op] = reader.at;
      const { args, results } = this.shapes[shape];
      for (let i = args + results; i > 0; i--) reader.skip();
      this.last = Math.max(this.last, length === 0 ? before : this.end[op]);
    }
  }

  /** For each row its operations by start, and those that are pending. */
  byRow() {
    const sizes = new Uint32Array(this.names.length);
    for (let op = 0; op < this.count; op++) sizes[this.row[op]]++;
    const rows = Array.from(sizes, (size) => ({ ops: new Uint32Array(size), open: [], size: 0 }));
    for (let op = 0; op < this.count; op++) {
      const row = rows[this.row[op]];
      row.ops[row.size++] = op;
      if (this.end[op] === Infinity) row.open.push(op);
    }
    return rows;
  }

  all(op) {
    const { args, results } = this.shapes[this.shape[op]];
    this.reader.at = this.values[op];
    const read = (count) => Array.from({ length: count }, () => this.shown(this.reader.signed()));
    return { args: read(args), results: read(results) };
  }

  shown(value) {
    const text = String(value);
    return this.strings[text] ?? text;
  }

  status(op) {
    return this.shapes[this.shape[op]].status;
  }

  call(op) {
    const { name } = this.shapes[this.shape[op]];
    const { args } = this.all(op);
    return name ? `${name}(${listed(args)})` : args[0];
  }

  answer(op, list = listed) {
    const { status, said } = this.shapes[this.shape[op]];
    const { results } = this.all(op);
    if (results.length === 0) return said;
    return status === 'ok' ? list(results) : `${said} (${list(results)})`;
  }

  /** "dequeue() → 7". */
  label(op) {
    const answer = this.answer(op);
    return answer ? `${this.call(op)} → ${answer}` : this.call(op);
  }

  thread(op) {
    return this.names[this.row[op]];
  }

  /** "2 threads, and a drain that took out what was left". */
  clients() {
    const threads = this.names.filter((name) => !['drain', 'notes'].includes(name));
    const [word] = threads[0].split(' ');
    const words = `${threads.length} ${word}${threads.length === 1 ? '' : 's'}`;
    if (!this.names.includes('drain')) return words;
    return `${words}, and a drain: what was left when all of them were done`;
  }

  /** The thread of an operation, within a sentence. */
  by(op) {
    const name = this.thread(op);
    return name === 'drain' ? 'the drain' : name;
  }

  /** "B dequeue() → 7 by thread 1". */
  full(op) {
    const letter = this.letters.get(op);
    return `${letter ? letter + ' ' : ''}${this.label(op)} by ${this.by(op)}`;
  }

  /** A time in the shown unit. */
  time(stamp) {
    return stamp === Infinity ? '…' : grouped(this.unit.zero + stamp * this.unit.factor);
  }

  /** A duration in the shown unit. */
  lasting(stamps) {
    return grouped(stamps * this.unit.factor);
  }

  /** The stamp as it was recorded. */
  stamp(stamp) {
    return stamp === Infinity ? 'never' : String(this.zero + BigInt(Math.round(stamp)));
  }

  /** The first operation that starts at `time` or later. */
  from(time) {
    return lowest(this.count, (op) => this.start[op] >= time);
  }
}

/** Binary search: the least index below `count` for which `test` holds; else `count`. */
function lowest(count, test) {
  let low = 0,
    high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (test(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function listed(values) {
  const some = values.slice(0, 12).join(', ');
  return values.length > 12 ? `${some}, … (${values.length} in all)` : some;
}

/** A number with groups of three digits, and no more decimals than it needs. */
function grouped(number) {
  const digits = number !== 0 && Math.abs(number) < 10 ? 2 : 0;
  const [whole, rest] = String(Number(number.toFixed(digits))).split('.');
  const groups = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  return rest ? `${groups}.${rest}` : groups;
}

/** "1 way", "2 ways". */
function counted(number, what) {
  return `${grouped(number)} ${what}${number === 1 ? '' : 's'}`;
}

/** The order of a good history: operation numbers. */
function decodeOrder(order) {
  const reader = new Reader(order.packed);
  const numbers = new Uint32Array(order.count);
  let before = -1;
  for (let at = 0; at < order.count; at++) {
    before = numbers[at] = before + 1 + Number(reader.signed());
  }
  return numbers;
}
