import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { matchesFilter } from "./entry-facts.ts";
import { checkFilter, conditionOf, type Filter, type FilterValue } from "./filter.ts";

type Metadata = Record<string, FilterValue>;

const sqlite = new Database(":memory:", { strict: true });

function matches(filter: Filter, metadata: Metadata): boolean {
  const { sql, values } = conditionOf(filter, "metadata");
  using statement = sqlite.prepare(`SELECT 1 FROM (SELECT ? AS metadata) WHERE ${sql}`);
  return statement.all(JSON.stringify(metadata), ...values).length === 1;
}

/** An independent implementation of filters. */
function means(filter: Filter, metadata: Metadata): boolean {
  if ("all" in filter) return filter.all.every((each) => means(each, metadata));
  if ("any" in filter) return filter.any.some((each) => means(each, metadata));
  const found = Object.hasOwn(metadata, filter.field) ? metadata[filter.field]! : null;
  if (filter.is === "$in") return filter.values.some((value) => value === found);
  if (filter.is === "$eq") return found === filter.value;
  if (filter.is === "$ne") return found !== filter.value;
  if (found === null || typeof found !== typeof filter.value) return false;
  const order =
    typeof found === "string"
      ? Buffer.compare(Buffer.from(found), Buffer.from(String(filter.value)))
      : Number(found) - Number(filter.value);
  return { $gt: order > 0, $gte: order >= 0, $lt: order < 0, $lte: order <= 0 }[filter.is];
}

const field = fc.constantFrom("a", "b", "a.b", "-", "__proto__", "constructor", "0");
const number = fc.oneof(fc.integer({ min: -2, max: 2 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
const text = fc.oneof(
  fc.constantFrom("", "a", "b", "1", "true", "é", "\u{1f600}", "\uffff", "'"),
  fc.string({ unit: "grapheme", maxLength: 5 }),
);
const plain = (value: FilterValue) => (Object.is(value, -0) ? 0 : value);
const value = fc.oneof(number, text, fc.boolean()).map(plain);
const metadata = fc
  .array(fc.tuple(field, value), { maxLength: 5 })
  .map((pairs) => Object.assign(Object.create(null), Object.fromEntries(pairs)) as Metadata);
const comparison = fc.oneof(
  fc.tuple(field, fc.constantFrom("$eq", "$ne"), value),
  fc.tuple(field, fc.constantFrom("$gt", "$gte", "$lt", "$lte"), fc.oneof(number, text).map(plain)),
  fc.tuple(field, fc.constant("$in"), fc.array(value, { maxLength: 4 })),
);
const flat = fc
  .array(comparison, { maxLength: 3 })
  .map((all) => Object.fromEntries(all.map(([name, is, operand]) => [name, { [is]: operand }])));
const nested = fc.oneof(
  flat,
  fc.array(flat, { minLength: 1, maxLength: 3 }).map(($or) => ({ $or })),
  fc.tuple(flat, fc.array(flat, { minLength: 1, maxLength: 3 })).map(([one, $and]) => ({ ...one, $and })),
);

test("the database and the thread agree on every filter and metadata", () => {
  fc.assert(
    fc.property(nested, metadata, (written, stored) => {
      const filter = checkFilter(written);
      if (Array.isArray(filter)) throw new Error(JSON.stringify(filter));
      expect(matches(filter, stored)).toBe(means(filter, stored));
      expect(matchesFilter(filter, JSON.parse(JSON.stringify(stored)))).toBe(means(filter, stored));
    }),
    { numRuns: 1500 },
  );
});

test.each([
  [{ n: { $eq: "1" } }, { n: 1 }, false],
  [{ n: { $gt: 0 } }, { n: "1" }, false],
  [{ n: { $eq: true } }, { n: 1 }, false],
  [{ n: { $lt: 5 } }, {}, false],
  [{ n: { $ne: 5 } }, {}, true],
  [{ n: { $ne: 5 } }, { n: "5" }, true],
  [{ n: { $gte: 2, $lt: 4 } }, { n: 3 }, true],
  [{ n: { $gte: 2, $lt: 4 } }, { n: 4 }, false],
  [{ n: { $in: [1, "a", false] } }, { n: false }, true],
  [{ n: { $in: [] } }, { n: false }, false],
  [{ $or: [{ a: { $eq: 1 } }, { b: { $eq: 2 } }] }, { b: 2 }, true],
  [{ "a.b": { $eq: 1 } }, { "a.b": 1 }, true],
  [{}, {}, true],
])("%j on %j: %j", (written, stored, found) => {
  expect(matches(checkFilter(written) as Filter, stored as unknown as Metadata)).toBe(found);
});

const deep = (depth: number): object => (depth === 0 ? { a: { $eq: 1 } } : { $and: [deep(depth - 1)] });

test.each([
  ["text", "filter"],
  [[], "filter"],
  [{ a: 1 }, "filter.a"],
  [{ a: {} }, "filter.a"],
  [{ a: { $regex: "x" } }, "filter.a.$regex"],
  [{ a: { $eq: null } }, "filter.a.$eq"],
  [{ a: { $eq: { b: 1 } } }, "filter.a.$eq"],
  [{ a: { $gt: true } }, "filter.a.$gt"],
  [{ a: { $in: "x" } }, "filter.a.$in"],
  [{ a: { $in: [1, null] } }, "filter.a.$in[1]"],
  [{ a: { $eq: "\ud800" } }, "filter.a.$eq"],
  [{ $or: [] }, "filter.$or"],
  [{ $or: [{ b: 1 }] }, "filter.$or[0].b"],
  [{ $not: [{}] }, "filter.$not"],
  [{ 'a"): 1; DROP TABLE memory_entries': { $eq: 1 } }, 'filter.a"): 1; DROP TABLE memory_entries'],
  [{ ["x".repeat(65)]: { $eq: 1 } }, `filter.${"x".repeat(65)}`],
  [deep(5), "filter.$and[0].$and[0].$and[0].$and[0].$and[0]"],
  [{ $and: Array.from({ length: 51 }, () => ({ a: { $eq: 1 } })) }, "filter.$and"],
  [{ $and: Array.from({ length: 26 }, () => ({ a: { $gt: 1, $lt: 3 } })) }, "filter"],
])("the error of %j names its place", (written, param) => {
  const faults = checkFilter(written);
  expect(Array.isArray(faults) && faults.map((fault) => fault.param)).toEqual([param]);
});

test("all errors of a filter are reported at once", () => {
  expect(checkFilter({ a: 1, b: { $x: 1 } })).toHaveLength(2);
  expect(checkFilter(deep(4))).toEqual(expect.objectContaining({ all: expect.any(Array) }));
});
