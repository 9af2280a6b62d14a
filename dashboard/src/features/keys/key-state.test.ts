import { expect, test } from "bun:test";
import { apiKeyFixture } from "./key-fixtures.ts";
import { isExposed, keyState } from "./key-state.ts";

const now = Date.parse("2026-11-21T12:00:00.000Z");
const exposed_at = "2026-11-20T00:00:00.000Z";
const [earlier, later] = ["2026-11-21T11:00:00.000Z", "2026-11-21T13:00:00.000Z"];

test("an overlap ends by the browser's clock, and a revoked key stays revoked", () => {
  expect(keyState(apiKeyFixture({ status: "rotating", expires_at: later }), now)).toBe("rotating");
  expect(keyState(apiKeyFixture({ status: "rotating", expires_at: earlier }), now)).toBe("expired");
  expect(keyState(apiKeyFixture({ revoked_at: earlier, expires_at: earlier, exposed_at }), now)).toBe("revoked");
  expect(keyState(apiKeyFixture({ exposed_at }), now)).toBe("exposed");
});

// An eavesdropper can use the key until its overlap ends, so a rotation alone does not end the exposure.
test("a key sent in clear text is exposed as long as it works, also during a rotation", () => {
  expect(isExposed(apiKeyFixture({ exposed_at }), now)).toBe(true);
  expect(isExposed(apiKeyFixture({ exposed_at, status: "rotating", expires_at: later }), now)).toBe(true);
  expect(isExposed(apiKeyFixture({ exposed_at, status: "rotating", expires_at: earlier }), now)).toBe(false);
  expect(isExposed(apiKeyFixture({ exposed_at, revoked_at: earlier }), now)).toBe(false);
  expect(isExposed(apiKeyFixture(), now)).toBe(false);
});
