import { expect, test } from "bun:test";
import { isLastAdmin } from "./is-last-admin.ts";
import { someKey } from "./key-fixtures.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const later = "2026-12-21T12:00:00.000Z";
const admin = (said: Parameters<typeof someKey>[0]) => someKey({ scopes: ["admin"], ...said });

test("the only key that can make keys is told apart from one of several", () => {
  const [one, other] = [admin({ id: "key_1" }), admin({ id: "key_2" })];
  expect(isLastAdmin(one, [one, someKey({ id: "key_3" })], now)).toBe(true);
  expect(isLastAdmin(one, [one, other], now)).toBe(false);
});

test("one that ends sooner, is bound, or is being rotated is no way back", () => {
  const one = admin({ id: "key_1" });
  for (const weak of [
    admin({ id: "key_2", expires_at: later }),
    admin({ id: "key_2", allowed_cidrs: ["10.0.0.0/8"] }),
    admin({ id: "key_2", status: "rotating", rotated_to: "key_9", expires_at: later }),
  ])
    expect(isLastAdmin(one, [one, weak], now)).toBe(true);
});
