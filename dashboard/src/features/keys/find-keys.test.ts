import { expect, test } from "bun:test";
import { findKeys, isExpiring } from "./find-keys.ts";
import { someKey } from "./key-fixtures.ts";
import { readKeysSearch } from "./read-keys-search.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const inDays = (days: number) => new Date(now + days * 86_400_000).toISOString();
const keys = [
  someKey({ id: "key_a", name: "Order service" }),
  someKey({ id: "key_b", name: "CI", last4: "c0Vd", scopes: ["read"], expires_at: inDays(3) }),
  someKey({ id: "key_c", name: "Old laptop", status: "revoked", revoked_at: inDays(-4), exposed_at: inDays(-4) }),
];
const found = (search: Parameters<typeof findKeys>[1]) => findKeys(keys, search, now).map(({ id }) => id);

test("keys are found by words of the name, by the last four, and by the id", () => {
  expect(found({ q: "serv order" })).toEqual(["key_a"]);
  expect(found({ q: "c0vd" })).toEqual(["key_b"]);
  expect(found({ q: "key_c" })).toEqual(["key_c"]);
});

test("filters of status and scope hold together", () => {
  expect(found({ status: "usable" })).toEqual(["key_a", "key_b"]);
  expect(found({ status: "ended" })).toEqual(["key_c"]);
  expect(found({ status: "expiring" })).toEqual(["key_b"]);
  expect(found({ status: "exposed", scope: "run" })).toEqual(["key_c"]);
});

test("a week before its end a key is expiring, unless it has a successor already", () => {
  expect(isExpiring(someKey({ expires_at: inDays(7) }), now)).toBe(true);
  expect(isExpiring(someKey({ expires_at: inDays(8) }), now)).toBe(false);
  expect(isExpiring(someKey({ expires_at: inDays(1), status: "rotating" }), now)).toBe(false);
});

test("an address with filters that are none is read without them", () => {
  expect(readKeysSearch({ q: 4711, status: "odd", scope: "admin" })).toEqual({ q: "4711", scope: "admin" });
});
