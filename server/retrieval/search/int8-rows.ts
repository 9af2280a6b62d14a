import { createDotScan, type DotScan, head, hitBytes, padding } from "./dot-scan.ts";

// Our own scan: sqlite-vec has none that is exact and as fast, and the libraries that are keep their index in native memory.

/** A row whose score lies between two bounds: its cosine with the query, and what its words add to that. */
export interface Candidate {
  number: number;
  low: number;
  high: number;
}

/** The rows among which the nearest are, for certain. */
interface Nearest {
  /** The likeliest first, and of equal ones the older first. */
  candidates: Candidate[];
  /** So much at least each of the nearest scores; −∞ when there are fewer of them than were asked for. */
  floor: number;
}

/** Which rows are asked for, and what some of them are worth besides. */
interface Asked {
  query: Float32Array;
  most: number;
  isAllowed?: (number: number, tag: number) => boolean;
  /** What words add, by number: more than 0. Of rows that have some, a cosine below 0 counts as 0. */
  extras?: ReadonlyMap<number, number>;
}

/** Vectors by chunk number, a byte for each of their numbers. */
export interface Int8Rows {
  readonly count: number;
  /** How many have no tag yet. */
  readonly untagged: number;
  /** What they take of the memory. */
  readonly bytes: number;
  /** Bytes of a row. */
  readonly size: number;
  /** How often rows went, or changed their places. */
  readonly removals: number;
  add(number: number, vector: Float32Array): void;
  /** The numbers of the first rows, and copies of some rows: for `take`, of another object or another start. */
  numbers(count: number): Float64Array<ArrayBuffer>;
  copy(from: number, to: number): Uint8Array<ArrayBuffer>;
  take(numbers: Float64Array, copied: Uint8Array): void;
  has(number: number): boolean;
  /** Whether a number's row is made of this vector; null without such a row. */
  isOf(number: number, vector: Float32Array): boolean | null;
  remove(numbers: ReadonlySet<number>): void;
  clear(): void;
  /** Gives some of those without a tag what is known of them: a whole number that is not 0. */
  tag(most: number, tagsOf: (numbers: readonly number[]) => readonly number[]): void;
  /** Finds the `most` nearest of those that are allowed, by number and tag. */
  nearest(asked: Asked): Nearest;
}

const page = 65_536;
const [queryAt, hitsAt, rowsAt] = [0, 16_384, page];
const block = { first: 256, most: 4096 };
/** What 32-bit numbers lose of products, errors and bars, and more. */
const rounding = 2e-6;
/** Of so many at most the vectors themselves are read, unless more are asked for: beyond, nearly equal ones may be lost. */
export const most_candidates = 2048;

/**
 * Up to here a store's rows are copied for each search into a memory that all small stores share. One of its own reserves
 * gigabytes of addresses, and beyond eight of those the engine collects all its garbage before it gives another.
 */
const most_shared = 2 ** 19;
let shared: DotScan | null = null;

/** What a number takes in a map. */
const bytes_each = 40;

const sizeOf = (dimensions: number) => head + Math.ceil(dimensions / padding) * padding;

/** For about so many vectors at first; they may become more. */
export function createInt8Rows(dimensions: number, expected = 64): Int8Rows {
  let own: DotScan | null = null;
  const size = sizeOf(dimensions);
  let [count, untagged, removals] = [0, 0, 0];
  let numbers = new Float64Array(0);
  const indexes = new Map<number, number>();
  let [bytes, floats, words] = viewsOf(new ArrayBuffer(rowsAt));
  const placeOf = (index: number) => rowsAt + index * size;
  // In words of four bytes.
  const factorOf = (index: number) => placeOf(index) / 4;
  const errorOf = (index: number) => factorOf(index) + 1;
  const tagOf = (index: number) => factorOf(index) + 2;

  function reserve(rows: number): void {
    const isThere = own !== null; // A memory that grows takes its bytes along.
    if (placeOf(rows) > most_shared) own ??= createDotScan();
    if (own) growTo(own.memory, placeOf(rows));
    const before = bytes;
    [bytes, floats, words] = viewsOf(own ? own.memory.buffer : new ArrayBuffer(placeOf(rows)));
    if (!isThere) bytes.set(before.subarray(0, placeOf(count)));
    const old = numbers;
    numbers = new Float64Array(rows);
    numbers.set(old.subarray(0, count));
  }

  function add(number: number, vector: Float32Array): void {
    if (count === numbers.length) reserve(Math.max(1, expected, Math.ceil(count * 1.25)));
    const at = placeOf(count) + head;
    const { factor, error } = quantise(vector, 127, bytes.subarray(at, at + dimensions));
    floats[factorOf(count)] = factor;
    floats[errorOf(count)] = error;
    words[tagOf(count)] = 0;
    untagged++;
    indexes.set(number, count);
    numbers[count++] = number;
  }

  function take(some: Float64Array, copied: Uint8Array): void {
    if (count + some.length > numbers.length) reserve(Math.max(count + some.length, expected));
    new Uint8Array(bytes.buffer).set(copied, placeOf(count));
    for (const number of some) {
      words[tagOf(count)] = 0; // Tags are of one start.
      indexes.set(number, count);
      numbers[count++] = number;
    }
    untagged += some.length;
  }

  function isOf(number: number, vector: Float32Array): boolean | null {
    const index = indexes.get(number);
    if (index === undefined) return null;
    const fresh = new Int8Array(dimensions);
    quantise(vector, 127, fresh);
    const at = placeOf(index) + head;
    return fresh.every((value, place) => value === bytes[at + place]);
  }

  /** The last one takes the place of one that goes. */
  function remove(gone: ReadonlySet<number>): void {
    for (const number of gone) {
      const index = indexes.get(number);
      if (index === undefined) continue;
      removals++;
      if (words[tagOf(index)] === 0) untagged--;
      const last = --count;
      bytes.copyWithin(placeOf(index), placeOf(last), placeOf(last + 1));
      numbers[index] = numbers[last]!;
      indexes.set(numbers[index]!, index).delete(number);
    }
  }

  function tag(most: number, tagsOf: (numbers: readonly number[]) => readonly number[]): void {
    const places: number[] = [];
    for (let index = 0; index < count && places.length < most; index++)
      if (words[tagOf(index)] === 0) places.push(index);
    const tags = tagsOf(places.map((index) => numbers[index]!));
    for (const [at, index] of places.entries()) words[tagOf(index)] = tags[at]!;
    untagged -= places.length;
  }

  /** Where the rows can be scanned until something else is. */
  function scanOf(): DotScan {
    if (own) return own;
    shared ??= createDotScan();
    growTo(shared.memory, placeOf(count));
    new Int8Array(shared.memory.buffer).set(bytes.subarray(rowsAt, placeOf(count)), rowsAt);
    return shared;
  }

  /*
   * Why the nearest are among the candidates. Let x and u be a row and the query at the length 1, x′ and u′ what is kept of
   * them, and a = x′·u′ the product of the scan. Then x·u − a = x·(u − u′) + (x − x′)·u′, which by Cauchy and Schwarz is
   * at most |u − u′| + |x − x′|·(1 + |u − u′|) either way: the error e, with both distances measured when the numbers
   * were rounded. At least `most` rows have cosines of the floor or more, since that is the `most`-th largest a − e; so
   * a row with a + e below the floor has `most` others before it. What words add is known exactly, and moves both bounds.
   */
  function nearest({ query, most, isAllowed, extras }: Asked): Nearest {
    const scan = scanOf();
    const asked = quantise(query, largestFor(query), new Int16Array(scan.memory.buffer, queryAt, dimensions));
    const [reach, lost] = [1 + asked.error, asked.error + rounding];
    const lows = createHighest(most);
    const found = createCandidates(Math.max(most_candidates, 2 * most));
    const hits = { rows: new Uint32Array(scan.memory.buffer), products: new Float32Array(scan.memory.buffer) };

    /** Compares rows one after the other, and hears of those that come to the bar. */
    function compare(first: number, last: number, bar: number, hear: (index: number, about: number) => void): void {
      const end = scan.run(placeOf(first), placeOf(last), size, queryAt, hitsAt, asked.factor, reach, bar);
      for (let hit = hitsAt / 4; hit < end / 4; hit += hitBytes / 4)
        hear((hits.rows[hit]! - rowsAt) / size, hits.products[hit + 1]!);
    }

    function offer(index: number, about: number, extra = 0): void {
      const error = floats[errorOf(index)]! * reach + lost;
      let [low, high] = [about - error, about + error];
      if (extra > 0) [low, high] = [Math.max(0, low) + extra, Math.max(0, high) + extra];
      const number = numbers[index]!;
      if (high < lows.least || (isAllowed && !isAllowed(number, words[tagOf(index)]!))) return;
      lows.offer(low);
      found.add({ number, low, high }, lows.least);
    }

    for (const [number, extra] of extras ?? []) {
      const index = indexes.get(number);
      if (index !== undefined)
        compare(index, index + 1, Number.NEGATIVE_INFINITY, (_, about) => offer(index, about, extra));
    }
    const hear = (index: number, about: number) => {
      if (!extras?.has(numbers[index]!)) offer(index, about);
    };
    let length = block.first;
    for (let first = 0; first < count; first += length, length = Math.min(2 * length, block.most))
      compare(first, Math.min(first + length, count), lows.least - lost, hear);
    return { candidates: found.all(lows.least), floor: lows.least };
  }

  return {
    get count() {
      return count;
    },
    get untagged() {
      return untagged;
    },
    get removals() {
      return removals;
    },
    size,
    numbers: (count) => numbers.slice(0, count),
    copy: (from, to) => new Uint8Array(bytes.buffer).slice(placeOf(from), placeOf(to)),
    take,
    has: (number) => indexes.has(number),
    isOf,
    get bytes() {
      return bytes.byteLength + (8 + bytes_each) * numbers.length;
    },
    add,
    remove,
    clear: () => {
      indexes.clear();
      removals++;
      [count, untagged] = [0, 0];
    },
    tag,
    nearest,
  };
}

function growTo(memory: WebAssembly.Memory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / page);
  if (missing > 0) memory.grow(missing);
}

const viewsOf = (buffer: ArrayBuffer) =>
  [new Int8Array(buffer), new Float32Array(buffer), new Uint32Array(buffer)] as const;

/** What `createInt8Rows` will take for so many vectors. */
export const bytesOfRows = (count: number, dimensions: number): number =>
  count * (sizeOf(dimensions) + 8 + bytes_each) + rowsAt;

/** The largest whole number of a query: with it no sum of products gets longer than 31 bits. */
function largestFor(query: Float32Array): number {
  const flat = Math.sqrt(query.length);
  const { largest, length } = measure(query);
  return Math.min(32_767, ((2 ** 31 / (127 * flat) - flat) * largest) / length);
}

function measure(vector: Float32Array): { largest: number; length: number } {
  let [largest, squares] = [0, 0];
  for (let index = 0; index < vector.length; index++) {
    const value = vector[index]!;
    squares += value * value;
    largest = Math.max(largest, Math.abs(value));
  }
  return { largest, length: Math.sqrt(squares) };
}

/** Writes a vector as whole numbers, says what to multiply them by for the length 1, and how far off that then is. */
function quantise(vector: Float32Array, most: number, into: Int8Array | Int16Array): { factor: number; error: number } {
  const { largest, length } = measure(vector);
  into.fill(0);
  if (largest === 0) return { factor: 0, error: 1 };
  const finer = most / largest;
  let squares = 0;
  for (let index = 0; index < vector.length; index++) {
    const exact = vector[index]! * finer;
    const whole = Math.round(exact);
    into[index] = whole;
    squares += (whole - exact) ** 2;
  }
  const factor = 1 / (finer * length);
  return { factor, error: Math.sqrt(squares) * factor };
}

/** The likeliest candidates: never many more than `most`. */
function createCandidates(most: number) {
  let found: Candidate[] = [];

  function all(floor: number): Candidate[] {
    return found
      .filter(({ high }) => high >= floor)
      .sort((a, b) => b.low + b.high - (a.low + a.high) || a.number - b.number)
      .slice(0, most);
  }

  return {
    add(candidate: Candidate, floor: number): void {
      if (found.push(candidate) > 2 * most) found = all(floor);
    },
    all,
  };
}

/** The `most` highest of many numbers: a tree whose root is the least of them, the one that goes first. */
export function createHighest(most: number) {
  const tree = new Float64Array(most).fill(Number.NEGATIVE_INFINITY);
  return {
    get least() {
      return tree[0]!;
    },
    offer(value: number): void {
      let at = 0;
      if (!(value > tree[0]!)) return;
      for (;;) {
        let child = 2 * at + 1;
        if (child + 1 < most && tree[child + 1]! < tree[child]!) child++;
        if (child >= most || tree[child]! >= value) break;
        tree[at] = tree[child]!;
        at = child;
      }
      tree[at] = value;
    },
  };
}
