import { expect, test } from "bun:test";
import { findKeys, isExpiring } from "./find-keys.ts";
import { apiKeyFixture } from "./key-fixtures.ts";
import { readKeysSearch } from "./read-keys-search.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();
const keys = [
  apiKeyFixture({ id: "key_a", name: "Order service" }),
  apiKeyFixture({ id: "key_b", name: "CI", last4: "c0Vd", scopes: ["read"], expires_at: inDays(3) }),
  apiKeyFixture({ id: "key_c", name: "Old laptop", status: "revoked", revoked_at: inDays(-4), exposed_at: inDays(-4) }),
];
const found = (search: Parameters<typeof findKeys>[1]) => findKeys(keys, search, now).map(({ id }) => id);

test("keys are found by words of the name, last four characters and id", () => {
  expect(found({ q: "serv order" })).toEqual(["key_a"]);
  expect(found({ q: "c0vd" })).toEqual(["key_b"]);
  expect(found({ q: "key_c" })).toEqual(["key_c"]);
});

test("status and scope filters combine", () => {
  expect(found({ status: "usable" })).toEqual(["key_a", "key_b"]);
  expect(found({ status: "ended" })).toEqual(["key_c"]);
  expect(found({ status: "expiring" })).toEqual(["key_b"]);
  expect(found({ status: "exposed", scope: "run" })).toEqual(["key_c"]);
});

test("a key is expiring in its last week, unless it is being rotated", () => {
  expect(isExpiring(apiKeyFixture({ expires_at: inDays(7) }), now)).toBe(true);
  expect(isExpiring(apiKeyFixture({ expires_at: inDays(8) }), now)).toBe(false);
  expect(isExpiring(apiKeyFixture({ expires_at: inDays(1), status: "rotating" }), now)).toBe(false);
});

test("invalid filters in the query parameters are dropped", () => {
  expect(readKeysSearch({ q: 4711, status: "odd", scope: "admin" })).toEqual({ q: "4711", scope: "admin" });
});
