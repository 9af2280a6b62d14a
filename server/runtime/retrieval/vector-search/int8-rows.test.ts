import { expect, test } from "bun:test";
import fc from "fast-check";
import { Int8Rows, most_candidates } from "./int8-rows.ts";

const unit = (vector: Float32Array) => {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return Array.from(vector, (value) => value / length);
};

function cosine(a: Float32Array, b: Float32Array): number {
  const [first, second] = [unit(a), unit(b)];
  return first.reduce((sum, value, index) => sum + value * second[index]!, 0);
}

/** Vectors around a few directions: nearly equal or far apart, small or large. */
const store = (dimensions: number) =>
  fc
    .record({
      seed: fc.integer(),
      count: fc.integer({ min: 1, max: dimensions > 100 ? 60 : 300 }),
      spread: fc.constantFrom(0, 1e-6, 1e-3, 0.1, 1),
      peak: fc.constantFrom(0, 1, 30),
      size: fc.constantFrom(1e-8, 1, 1e12),
    })
    .map(({ seed, count, spread, peak, size }) => {
      let state = seed >>> 0;
      const next = () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state / 2 ** 32 - 0.5;
      };
      const centre = Array.from({ length: dimensions }, (_, index) => next() + (index === 0 ? peak : 0));
      const one = () => Float32Array.from(centre, (value) => size * (value + spread * next()));
      return { vectors: Array.from({ length: count }, one), query: one() };
    });

test.each([3, 33, 512])(
  "with %d dimensions the nearest are among the candidates, within their bounds",
  (dimensions) => {
    const extra = fc.constantFrom(0, 0, 0, 0.05, 0.3);
    fc.assert(
      fc.property(
        store(dimensions),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.record({ extra, isGone: fc.boolean(), tag: fc.constantFrom(1, 1, 2) }), {
          minLength: 7,
          maxLength: 7,
        }),
        ({ vectors, query }, most, kinds) => {
          const rows = new Int8Rows(dimensions);
          const known = vectors.map((vector, number) => ({ number, vector, ...kinds[number % kinds.length]! }));
          for (const { number, vector } of known) rows.add(number, vector);
          rows.tag(vectors.length, (numbers) => numbers.map((number) => known[number]!.tag));
          rows.remove(new Set(known.filter(({ isGone }) => isGone).map(({ number }) => number)));
          const extras = new Map(known.filter(({ extra }) => extra > 0).map(({ number, extra }) => [number, extra]));
          const scores = known
            .filter(({ isGone, tag }) => !isGone && tag === 1)
            .map(({ number, vector, extra }) => {
              const near = cosine(vector, query);
              return { number, score: extra > 0 ? Math.max(0, near) + extra : near };
            })
            .sort((a, b) => b.score - a.score || a.number - b.number);
          const { candidates, floor } = rows.nearest({ query, most, extras, isAllowed: (_, tag) => tag === 1 });
          const found = new Map(candidates.map((each) => [each.number, each]));
          for (const { number } of scores.slice(0, most)) expect(found.has(number)).toBe(true);
          for (const { number, score } of scores) {
            const { low, high } = found.get(number) ?? { low: score, high: score };
            expect(low <= score && score <= high).toBe(true);
          }
          if (scores.length < most) expect(floor).toBe(Number.NEGATIVE_INFINITY);
          else expect(scores[most - 1]!.score).toBeGreaterThanOrEqual(floor);
          expect(rows.count).toBe(known.filter(({ isGone }) => !isGone).length);
        },
      ),
      { numRuns: 150 },
    );
  },
);

test("random vectors have few candidates", () => {
  const rows = new Int8Rows(64);
  for (let number = 0; number < 5000; number++)
    rows.add(
      number,
      Float32Array.from({ length: 64 }, (_, index) => Math.sin(number * 12.9898 + index * (number + 78))),
    );
  const query = Float32Array.from({ length: 64 }, (_, index) => Math.cos(index * 3));
  const { candidates } = rows.nearest({ query, most: 10 });
  expect(candidates.length).toBeWithin(10, 60);
});

test("of more equal vectors than are read, the oldest are candidates", () => {
  const rows = new Int8Rows(4);
  for (let number = 3 * most_candidates; number > 0; number--) rows.add(number, Float32Array.of(1, 2, 3, 4));
  const { candidates } = rows.nearest({ query: Float32Array.of(1, 2, 3, 4), most: 10 });
  expect(candidates.map(({ number }) => number)).toEqual(Array.from({ length: most_candidates }, (_, at) => at + 1));
});

test("rows created empty can be filled", () => {
  const rows = new Int8Rows(4, 0);
  for (let number = 0; number < 3; number++) {
    rows.add(number, Float32Array.of(1, number, 0, 0));
    const { candidates } = rows.nearest({ query: Float32Array.of(1, number, 0, 0), most: 1 });
    expect(candidates[0]!.number).toBe(number);
  }
});

test("stores find their own rows, in a shared memory, after outgrowing it, and when searched in turns", () => {
  const dimensions = 64;
  const along = (direction: number) => Float32Array.from({ length: dimensions }, (_, at) => Number(at === direction));
  const stores = Array.from({ length: 12 }, (_, store) => ({ store, rows: new Int8Rows(dimensions) }));
  const fill = (store: number, from: number, to: number) => {
    for (let at = from; at < to; at++) stores[store]!.rows.add(1e6 * store + at, along((at + store) % dimensions));
  };
  const expectOwn = () => {
    for (const { store, rows } of stores) {
      const { candidates } = rows.nearest({ query: along(5), most: 1 });
      expect(candidates[0]!.number).toBe(1e6 * store + ((5 - store + dimensions) % dimensions));
    }
  };
  for (const { store } of stores) fill(store, 0, dimensions);
  expectOwn();
  for (const store of [2, 7]) {
    fill(store, dimensions, 10_000);
    expectOwn();
  }
});
