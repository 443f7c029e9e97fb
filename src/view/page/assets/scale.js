// Maps times to places on the timeline, to scale; long idle times can be shortened.

class Scale {
  /** `collapse`: whether idle times are shortened. */
  constructor(operations, collapse) {
    this.last = Math.max(operations.last, 1);
    // Each gap: from, to, and the time left out up to its end.
    this.from = [];
    this.to = [];
    this.lost = [];
    if (collapse) this.findGaps(operations);
    this.total = this.place(this.last);
  }

  findGaps(operations) {
    const { count, start, end } = operations;
    const lengths = [];
    for (let op = 0; op < count; op += Math.ceil(count / 2000)) {
      if (end[op] !== Infinity) lengths.push(end[op] - start[op]);
    }
    lengths.sort((a, b) => a - b);
    const usual = Math.max(1, lengths[lengths.length >> 1] ?? 1);
    let busy = 0,
      lost = 0;
    for (let op = 0; op < count; op++) {
      const idle = start[op] - busy;
      if (op > 0 && idle > 4 * usual) {
        lost += idle - usual;
        this.from.push(busy);
        this.to.push(start[op]);
        this.lost.push(lost);
      }
      // A pending call does not count as busy time.
      busy = Math.max(busy, end[op] === Infinity ? start[op] : end[op]);
    }
  }

  /** The place of a time. */
  place(time) {
    const at = lowest(this.from.length, (gap) => this.to[gap] >= time);
    const before = at > 0 ? this.lost[at - 1] : 0;
    if (at === this.from.length || time <= this.from[at]) return time - before;
    const [from, to] = [this.from[at], this.to[at]];
    const left = to - from - (this.lost[at] - before);
    return from - before + ((time - from) / (to - from)) * left;
  }

  /** The time at a place. */
  time(place) {
    const at = lowest(this.from.length, (gap) => this.to[gap] - this.lost[gap] >= place);
    const before = at > 0 ? this.lost[at - 1] : 0;
    if (at === this.from.length || place + before <= this.from[at]) return place + before;
    const [from, to] = [this.from[at], this.to[at]];
    const left = to - from - (this.lost[at] - before);
    return from + ((place + before - from) / left) * (to - from);
  }

  /** The gaps between two places. */
  gaps(low, high) {
    const first = lowest(this.from.length, (gap) => this.to[gap] - this.lost[gap] >= low);
    const found = [];
    for (let at = first; at < this.from.length; at++) {
      const from = this.from[at] - (at > 0 ? this.lost[at - 1] : 0);
      if (from > high || found.length > 500) break;
      found.push({ from, to: this.to[at] - this.lost[at], time: this.to[at] - this.from[at] });
    }
    return found;
  }
}

/** About `count` round numbers between two numbers. */
function ticks(low, high, count) {
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high && found.length < 100; at += step) {
    found.push(at);
  }
  return found;
}
