import { expect, test } from "bun:test";
import { someKey } from "./key-fixtures.ts";
import { isExposed, keyState } from "./key-state.ts";

const now = Date.parse("2026-11-21T12:00:00.000Z");
const exposed_at = "2026-11-20T00:00:00.000Z";
const [earlier, later] = ["2026-11-21T11:00:00.000Z", "2026-11-21T13:00:00.000Z"];

test("a countdown ends by the reader's clock, and what was revoked stays revoked", () => {
  expect(keyState(someKey({ status: "rotating", expires_at: later }), now)).toBe("rotating");
  expect(keyState(someKey({ status: "rotating", expires_at: earlier }), now)).toBe("expired");
  expect(keyState(someKey({ revoked_at: earlier, expires_at: earlier, exposed_at }), now)).toBe("revoked");
  expect(keyState(someKey({ exposed_at }), now)).toBe("exposed");
});

// Whoever read it on the way can use it until its overlap ends: a rotation alone is not yet a remedy.
test("a key that was sent in clear text is exposed as long as it works, also while it is being rotated", () => {
  expect(isExposed(someKey({ exposed_at }), now)).toBe(true);
  expect(isExposed(someKey({ exposed_at, status: "rotating", expires_at: later }), now)).toBe(true);
  expect(isExposed(someKey({ exposed_at, status: "rotating", expires_at: earlier }), now)).toBe(false);
  expect(isExposed(someKey({ exposed_at, revoked_at: earlier }), now)).toBe(false);
  expect(isExposed(someKey(), now)).toBe(false);
});
