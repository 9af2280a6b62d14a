import { expect, test } from "bun:test";
import { exposureWords } from "./exposure-words.ts";
import { someKey } from "./key-fixtures.ts";

const now = Date.parse("2026-11-21T00:00:00.000Z");
const exposed_at = "2026-11-20T00:00:00.000Z";

test("the last admin key that came in clear text is said to be kept, and why", () => {
  const words = exposureWords(someKey({ exposed_at, exposure: "last_admin_key", scopes: ["admin"] }), now);
  expect(words).toContain("may have read it. It was not revoked, because it was the last admin key. It still works.");
});

test("of a key from the server's own machine nobody is said to have read it", () => {
  const words = exposureWords(someKey({ exposed_at, exposure: "local" }), now);
  expect(words).toBe("It came from the server's own machine, so no network carried it. It still works.");
});

test("a key that was revoked for it is said to be so, and another one to work until its overlap ends", () => {
  const revoked = someKey({ exposed_at, exposure: "revoked", revoked_at: exposed_at, status: "revoked" });
  expect(exposureWords(revoked, now)).toContain("It has been revoked since.");
  const rotating = someKey({
    exposed_at,
    exposure: "kept",
    status: "rotating",
    expires_at: "2026-11-22T00:00:00.000Z",
  });
  expect(exposureWords(rotating, now)).toContain("It still works until its overlap ends.");
});
