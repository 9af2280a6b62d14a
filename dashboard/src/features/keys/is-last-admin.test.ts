import { expect, test } from "bun:test";
import { isLastAdmin } from "./is-last-admin.ts";
import { apiKeyFixture } from "./key-fixtures.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const later = "2026-12-21T12:00:00.000Z";
const admin = (said: Parameters<typeof apiKeyFixture>[0]) => apiKeyFixture({ scopes: ["admin"], ...said });

test("the only usable admin key is the last admin, one of several is not", () => {
  const [one, other] = [admin({ id: "key_1" }), admin({ id: "key_2" })];
  expect(isLastAdmin(one, [one, apiKeyFixture({ id: "key_3" })], now)).toBe(true);
  expect(isLastAdmin(one, [one, other], now)).toBe(false);
});

test("an admin key that expires sooner, is restricted or is being rotated does not count as another admin", () => {
  const one = admin({ id: "key_1" });
  for (const weak of [
    admin({ id: "key_2", expires_at: later }),
    admin({ id: "key_2", allowed_cidrs: ["10.0.0.0/8"] }),
    admin({ id: "key_2", status: "rotating", rotated_to: "key_9", expires_at: later }),
  ])
    expect(isLastAdmin(one, [one, weak], now)).toBe(true);
});
