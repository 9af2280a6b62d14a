import { expect, test } from "bun:test";
import { someKey } from "./key-fixtures.ts";
import { keyRows } from "./key-rows.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const later = "2026-11-22T12:00:00.000Z";

test("the new key hangs under the old one while both are good, and pairs stand where their newest key does", () => {
  const rows = keyRows(
    [
      someKey({ id: "key_4", rotated_from: "key_1" }),
      someKey({ id: "key_3" }),
      someKey({ id: "key_2", revoked_at: "2026-11-02T00:00:00.000Z", status: "revoked" }),
      someKey({ id: "key_1", status: "rotating", rotated_to: "key_4", expires_at: later }),
    ],
    now,
  );
  expect(rows.map(({ key, hangs, holds }) => [key.id, hangs, holds])).toEqual([
    ["key_1", false, true],
    ["key_4", true, false],
    ["key_3", false, false],
    ["key_2", false, false],
  ]);
});

test("once the overlap is over by the reader's clock, the pair is none any more", () => {
  const rows = keyRows(
    [
      someKey({ id: "key_2", rotated_from: "key_1" }),
      someKey({ id: "key_1", status: "rotating", rotated_to: "key_2", expires_at: "2026-11-21T11:59:59.000Z" }),
    ],
    now,
  );
  expect(rows.map(({ key, hangs }) => [key.id, hangs])).toEqual([
    ["key_2", false],
    ["key_1", false],
  ]);
});

test("a key that was rotated again before its own overlap ended makes a chain of three", () => {
  const rows = keyRows(
    [
      someKey({ id: "key_3", rotated_from: "key_2" }),
      someKey({ id: "key_2", rotated_from: "key_1", rotated_to: "key_3", status: "rotating", expires_at: later }),
      someKey({ id: "key_1", rotated_to: "key_2", status: "rotating", expires_at: later }),
    ],
    now,
  );
  expect(rows.map(({ key }) => key.id)).toEqual(["key_1", "key_2", "key_3"]);
});
