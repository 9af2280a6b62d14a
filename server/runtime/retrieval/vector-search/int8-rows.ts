import { createDotScan, type DotScan, head, hitBytes, padding } from "./dot-scan.ts";

// Our own scan: sqlite-vec has no exact scan of this speed, and libraries that do keep their index in native memory.

/** A row whose score is between two bounds: its cosine with the query plus the bonus of its words. */
export interface Candidate {
  number: number;
  low: number;
  high: number;
}

/** Rows that are certain to include the nearest. */
interface Nearest {
  /** Sorted by likely score, then by age (older first). */
  candidates: Candidate[];
  /** Lower bound for the score of each of the nearest; −∞ if there are fewer than requested. */
  floor: number;
}

/** Query, limits and bonuses of a scan. */
interface ScanRequest {
  query: Float32Array;
  most: number;
  isAllowed?: (number: number, tag: number) => boolean;
  /** Bonus of words by chunk number, above 0. For these rows a cosine below 0 counts as 0. */
  extras?: ReadonlyMap<number, number>;
}

/** Quantized vectors by chunk number, one byte per dimension. */
export interface Int8Rows {
  readonly count: number;
  /** Number of rows without a tag. */
  readonly untagged: number;
  /** Bytes in memory. */
  readonly bytes: number;
  /** Bytes per row. */
  readonly size: number;
  /** Number of times that rows were removed or moved. */
  readonly removals: number;
  add(number: number, vector: Float32Array): void;
  /**
   * Return the chunk numbers of the first rows, and copies of rows, for `take` in another instance or after a restart.
   */
  numbers(count: number): Float64Array<ArrayBuffer>;
  copy(from: number, to: number): Uint8Array<ArrayBuffer>;
  take(numbers: Float64Array, copied: Uint8Array): void;
  has(number: number): boolean;
  /** True if the row was quantized from this vector; null if there is no such row. */
  isOf(number: number, vector: Float32Array): boolean | null;
  remove(numbers: ReadonlySet<number>): void;
  clear(): void;
  /** Tags up to `most` untagged rows with positive integers. */
  tag(most: number, tagsOf: (numbers: readonly number[]) => readonly number[]): void;
  /** Finds the `most` nearest rows among those allowed by number and tag. */
  nearest(asked: ScanRequest): Nearest;
}

const page = 65_536;
const [queryAt, hitsAt, rowsAt] = [0, 16_384, page];
const block = { first: 256, most: 4096 };
/** Upper bound for rounding errors of 32-bit products, errors and bars. */
const rounding = 2e-6;
/**
 * Maximum candidates (unless more are requested) whose exact vectors are read. If more are nearly equal, some may be
 * lost.
 */
export const most_candidates = 2048;

/**
 * Up to this size, rows are copied for each search into one memory shared by all small stores. A memory of its own
 * reserves gigabytes of address space, and beyond eight the engine runs a full garbage collection before each new one.
 */
const most_shared = 2 ** 19;
let shared: DotScan | null = null;

/** Approximate bytes per entry of a map. */
const bytes_each = 40;

const sizeOf = (dimensions: number) => head + Math.ceil(dimensions / padding) * padding;

/** Creates rows with room for `expected` vectors; it grows as needed. */
export function createInt8Rows(dimensions: number, expected = 64): Int8Rows {
  let own: DotScan | null = null;
  const size = sizeOf(dimensions);
  let [count, untagged, removals] = [0, 0, 0];
  let numbers = new Float64Array(0);
  const indexes = new Map<number, number>();
  let [bytes, floats, words] = viewsOf(new ArrayBuffer(rowsAt));
  const placeOf = (index: number) => rowsAt + index * size;
  // Index in 32-bit words.
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

  /** Removes rows; the last row moves into each gap. */
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

  /** Returns a scan whose memory has these rows, valid until the next call of any store. */
  function scanOf(): DotScan {
    if (own) return own;
    shared ??= createDotScan();
    growTo(shared.memory, placeOf(count));
    new Int8Array(shared.memory.buffer).set(bytes.subarray(rowsAt, placeOf(count)), rowsAt);
    return shared;
  }

  /*
   * Proof that the nearest are among the candidates. Let x and u be a row and the query at length 1, x′ and u′ as
   * stored, and a = x′·u′ the product of the scan. Then x·u − a = x·(u − u′) + (x − x′)·u′, which by Cauchy and Schwarz is
   * at most |u − u′| + |x − x′|·(1 + |u − u′|) either way: the error e, with both distances measured when the numbers
   * were rounded. At least `most` rows have cosines of the floor or more, since that is the `most`-th largest a − e; so
   * a row with a + e below the floor has `most` others before it. The bonus of words is exact and moves both bounds.
   */
  function nearest({ query, most, isAllowed, extras }: ScanRequest): Nearest {
    const scan = scanOf();
    const asked = quantise(query, largestFor(query), new Int16Array(scan.memory.buffer, queryAt, dimensions));
    const [reach, lost] = [1 + asked.error, asked.error + rounding];
    const lows = createHighest(most);
    const found = createCandidates(Math.max(most_candidates, 2 * most));
    const hits = { rows: new Uint32Array(scan.memory.buffer), products: new Float32Array(scan.memory.buffer) };

    /** Scans rows and calls `hear` for those that reach the bar. */
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

/** Returns the bytes that `createInt8Rows` needs for this many vectors. */
export const bytesOfRows = (count: number, dimensions: number): number =>
  count * (sizeOf(dimensions) + 8 + bytes_each) + rowsAt;

/** Returns the largest integer for a query with which no sum of products exceeds 31 bits. */
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

/**
 * Quantizes a vector to integers. Returns the factor that restores length 1, and the distance to the exact unit vector.
 */
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

/** Collects the likeliest candidates: at most twice `most` at a time. */
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

/** Keeps the `most` highest numbers in a min-heap, whose root is dropped first. */
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
