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

/** Words of a row after its factor. */
const [errorWord, tagWord] = [1, 2];

const sizeOf = (dimensions: number) => head + Math.ceil(dimensions / padding) * padding;

/** Quantized vectors by chunk number, one byte per dimension. */
export class Int8Rows {
  /** Bytes per row. */
  readonly size: number;
  readonly #dimensions: number;
  readonly #expected: number;
  readonly #indexes = new Map<number, number>();
  #count = 0;
  #untagged = 0;
  #removals = 0;
  #numbers = new Float64Array(0);
  #own: DotScan | null = null;
  #bytes: Int8Array;
  #floats: Float32Array;
  #words: Uint32Array;

  /** Creates rows with room for `expected` vectors; it grows as needed. */
  constructor(dimensions: number, expected = 64) {
    this.size = sizeOf(dimensions);
    this.#dimensions = dimensions;
    this.#expected = expected;
    [this.#bytes, this.#floats, this.#words] = viewsOf(new ArrayBuffer(rowsAt));
  }

  get count(): number {
    return this.#count;
  }

  /** Number of rows without a tag. */
  get untagged(): number {
    return this.#untagged;
  }

  /** Number of times that rows were removed or moved. */
  get removals(): number {
    return this.#removals;
  }

  /** Bytes in memory. */
  get bytes(): number {
    return this.#bytes.byteLength + (8 + bytes_each) * this.#numbers.length;
  }

  add(number: number, vector: Float32Array): void {
    const index = this.#count;
    if (index === this.#numbers.length) this.#reserve(Math.max(1, this.#expected, Math.ceil(index * 1.25)));
    const at = this.#placeOf(index) + head;
    const { factor, error } = quantise(vector, 127, this.#bytes.subarray(at, at + this.#dimensions));
    const word = this.#wordOf(index);
    this.#floats[word] = factor;
    this.#floats[word + errorWord] = error;
    this.#words[word + tagWord] = 0;
    this.#untagged++;
    this.#append(number);
  }

  /** Returns the chunk numbers of the first rows, for `take` in another instance or after a restart. */
  numbers(count: number): Float64Array<ArrayBuffer> {
    return this.#numbers.slice(0, count);
  }

  /** Returns copies of rows, for `take`. */
  copy(from: number, to: number): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#bytes.buffer).slice(this.#placeOf(from), this.#placeOf(to));
  }

  take(numbers: Float64Array, copied: Uint8Array): void {
    const count = this.#count + numbers.length;
    if (count > this.#numbers.length) this.#reserve(Math.max(count, this.#expected));
    new Uint8Array(this.#bytes.buffer).set(copied, this.#placeOf(this.#count));
    for (const number of numbers) {
      this.#words[this.#wordOf(this.#count) + tagWord] = 0; // Tags are of one start.
      this.#append(number);
    }
    this.#untagged += numbers.length;
  }

  has(number: number): boolean {
    return this.#indexes.has(number);
  }

  /** True if the row was quantized from this vector; null if there is no such row. */
  isOf(number: number, vector: Float32Array): boolean | null {
    const index = this.#indexes.get(number);
    if (index === undefined) return null;
    const quantised = new Int8Array(this.#dimensions);
    quantise(vector, 127, quantised);
    const at = this.#placeOf(index) + head;
    return quantised.every((value, place) => value === this.#bytes[at + place]);
  }

  /** Removes rows; the last row moves into each gap. */
  remove(numbers: ReadonlySet<number>): void {
    for (const number of numbers) {
      const index = this.#indexes.get(number);
      if (index === undefined) continue;
      this.#removals++;
      if (this.#tagAt(index) === 0) this.#untagged--;
      const last = --this.#count;
      this.#bytes.copyWithin(this.#placeOf(index), this.#placeOf(last), this.#placeOf(last + 1));
      const moved = this.#numberAt(last);
      this.#numbers[index] = moved;
      this.#indexes.set(moved, index).delete(number);
    }
  }

  clear(): void {
    this.#indexes.clear();
    this.#removals++;
    [this.#count, this.#untagged] = [0, 0];
  }

  /** Tags up to `most` untagged rows with positive integers. */
  tag(most: number, tagsOf: (numbers: readonly number[]) => readonly number[]): void {
    const places: number[] = [];
    for (let index = 0; index < this.#count && places.length < most; index++)
      if (this.#tagAt(index) === 0) places.push(index);
    const tags = tagsOf(places.map((index) => this.#numberAt(index)));
    for (const [at, index] of places.entries()) this.#words[this.#wordOf(index) + tagWord] = tags[at] ?? 0;
    this.#untagged -= places.length;
  }

  /*
   * Proof that the nearest are among the candidates. Let x and u be a row and the query at length 1, x′ and u′ as
   * stored, and a = x′·u′ the product of the scan. Then x·u − a = x·(u − u′) + (x − x′)·u′, which by Cauchy and Schwarz is
   * at most |u − u′| + |x − x′|·(1 + |u − u′|) either way: the error e, with both distances measured when the numbers
   * were rounded. At least `most` rows have cosines of the floor or more, since that is the `most`-th largest a − e; so
   * a row with a + e below the floor has `most` others before it. The bonus of words is exact and moves both bounds.
   */
  /** Finds the `most` nearest rows among those allowed by number and tag. */
  nearest({ query, most, isAllowed, extras }: ScanRequest): Nearest {
    const scan = this.#scan();
    const { size } = this;
    const quantisedQuery = quantise(
      query,
      largestFor(query),
      new Int16Array(scan.memory.buffer, queryAt, this.#dimensions),
    );
    const [reach, lost] = [1 + quantisedQuery.error, quantisedQuery.error + rounding];
    const lows = createHighest(most);
    const found = createCandidates(Math.max(most_candidates, 2 * most));
    const hits = { rows: new Uint32Array(scan.memory.buffer), products: new Float32Array(scan.memory.buffer) };

    /** Scans rows and calls `hear` for those that reach the bar. */
    const compare = (first: number, last: number, bar: number, onHit: (index: number, about: number) => void): void => {
      const [from, to] = [this.#placeOf(first), this.#placeOf(last)];
      const end = scan.run(from, to, size, queryAt, hitsAt, quantisedQuery.factor, reach, bar);
      for (let hit = hitsAt / 4; hit < end / 4; hit += hitBytes / 4)
        onHit(((hits.rows[hit] ?? 0) - rowsAt) / size, hits.products[hit + 1] ?? 0);
    };

    const offer = (index: number, about: number, extra = 0): void => {
      const error = (this.#floats[this.#wordOf(index) + errorWord] ?? 0) * reach + lost;
      let [low, high] = [about - error, about + error];
      if (extra > 0) [low, high] = [Math.max(0, low) + extra, Math.max(0, high) + extra];
      const number = this.#numberAt(index);
      if (high < lows.least || (isAllowed && !isAllowed(number, this.#tagAt(index)))) return;
      lows.offer(low);
      found.add({ number, low, high }, lows.least);
    };

    for (const [number, extra] of extras ?? []) {
      const index = this.#indexes.get(number);
      if (index !== undefined)
        compare(index, index + 1, Number.NEGATIVE_INFINITY, (_, about) => offer(index, about, extra));
    }
    const hear = (index: number, about: number) => {
      if (!extras?.has(this.#numberAt(index))) offer(index, about);
    };
    let length = block.first;
    for (let first = 0; first < this.#count; first += length, length = Math.min(2 * length, block.most))
      compare(first, Math.min(first + length, this.#count), lows.least - lost, hear);
    return { candidates: found.all(lows.least), floor: lows.least };
  }

  #placeOf(index: number): number {
    return rowsAt + index * this.size;
  }

  /** Returns the place of a row in 32-bit words: its factor is there, then its error and its tag. */
  #wordOf(index: number): number {
    return this.#placeOf(index) / 4;
  }

  #numberAt(index: number): number {
    return this.#numbers[index] ?? Number.NaN;
  }

  #tagAt(index: number): number {
    return this.#words[this.#wordOf(index) + tagWord] ?? 0;
  }

  #append(number: number): void {
    this.#indexes.set(number, this.#count);
    this.#numbers[this.#count++] = number;
  }

  #reserve(rows: number): void {
    const isThere = this.#own !== null; // A memory that grows takes its bytes along.
    const end = this.#placeOf(rows);
    if (end > most_shared) this.#own ??= createDotScan();
    if (this.#own) growTo(this.#own.memory, end);
    const before = this.#bytes;
    [this.#bytes, this.#floats, this.#words] = viewsOf(this.#own ? this.#own.memory.buffer : new ArrayBuffer(end));
    if (!isThere) this.#bytes.set(before.subarray(0, this.#placeOf(this.#count)));
    const numbers = new Float64Array(rows);
    numbers.set(this.#numbers.subarray(0, this.#count));
    this.#numbers = numbers;
  }

  /** Returns a scan whose memory has these rows, valid until the next call of any store. */
  #scan(): DotScan {
    if (this.#own) return this.#own;
    shared ??= createDotScan();
    const end = this.#placeOf(this.#count);
    growTo(shared.memory, end);
    new Int8Array(shared.memory.buffer).set(this.#bytes.subarray(rowsAt, end), rowsAt);
    return shared;
  }
}

function growTo(memory: WebAssembly.Memory, bytes: number): void {
  const missing = Math.ceil((bytes - memory.buffer.byteLength) / page);
  if (missing > 0) memory.grow(missing);
}

const viewsOf = (buffer: ArrayBuffer) =>
  [new Int8Array(buffer), new Float32Array(buffer), new Uint32Array(buffer)] as const;

/** Returns the bytes that `Int8Rows` needs for this many vectors. */
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
    const value = vector[index] ?? 0;
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
    const exact = (vector[index] ?? 0) * finer;
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
  const valueAt = (index: number): number => tree[index] ?? Number.POSITIVE_INFINITY;
  return {
    get least() {
      return valueAt(0);
    },
    offer(value: number): void {
      let at = 0;
      if (!(value > valueAt(0))) return;
      for (;;) {
        let child = 2 * at + 1;
        if (valueAt(child + 1) < valueAt(child)) child++;
        if (valueAt(child) >= value) break;
        tree[at] = valueAt(child);
        at = child;
      }
      tree[at] = value;
    },
  };
}
