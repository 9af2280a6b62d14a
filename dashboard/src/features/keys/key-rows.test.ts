import { expect, test } from "bun:test";
import { apiKeyFixture } from "./key-fixtures.ts";
import { keyRows } from "./key-rows.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const later = "2026-11-22T12:00:00.000Z";

test("a new key is listed under the old one while both are usable, and pairs sort by their newest key", () => {
  const rows = keyRows(
    [
      apiKeyFixture({ id: "key_4", rotated_from: "key_1" }),
      apiKeyFixture({ id: "key_3" }),
      apiKeyFixture({ id: "key_2", revoked_at: "2026-11-02T00:00:00.000Z", status: "revoked" }),
      apiKeyFixture({ id: "key_1", status: "rotating", rotated_to: "key_4", expires_at: later }),
    ],
    now,
  );
  expect(rows.map(({ key, isNested, hasNested }) => [key.id, isNested, hasNested])).toEqual([
    ["key_1", false, true],
    ["key_4", true, false],
    ["key_3", false, false],
    ["key_2", false, false],
  ]);
});

test("a pair is split once its overlap is over by the browser's clock", () => {
  const rows = keyRows(
    [
      apiKeyFixture({ id: "key_2", rotated_from: "key_1" }),
      apiKeyFixture({ id: "key_1", status: "rotating", rotated_to: "key_2", expires_at: "2026-11-21T11:59:59.000Z" }),
    ],
    now,
  );
  expect(rows.map(({ key, isNested }) => [key.id, isNested])).toEqual([
    ["key_2", false],
    ["key_1", false],
  ]);
});

test("a key rotated again during its own overlap makes a chain of three", () => {
  const rows = keyRows(
    [
      apiKeyFixture({ id: "key_3", rotated_from: "key_2" }),
      apiKeyFixture({ id: "key_2", rotated_from: "key_1", rotated_to: "key_3", status: "rotating", expires_at: later }),
      apiKeyFixture({ id: "key_1", rotated_to: "key_2", status: "rotating", expires_at: later }),
    ],
    now,
  );
  expect(rows.map(({ key }) => key.id)).toEqual(["key_1", "key_2", "key_3"]);
});
