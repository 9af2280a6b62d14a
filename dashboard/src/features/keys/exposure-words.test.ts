import { expect, test } from "bun:test";
import { exposureWords } from "./exposure-words.ts";
import { apiKeyFixture } from "./key-fixtures.ts";

const now = Date.parse("2026-11-21T00:00:00.000Z");
const exposed_at = "2026-11-20T00:00:00.000Z";

test("an exposed last admin key is reported as kept, with the reason", () => {
  const words = exposureWords(apiKeyFixture({ exposed_at, exposure: "last_admin_key", scopes: ["admin"] }), now);
  expect(words).toContain("may have read it. It was not revoked, because it was the last admin key. It still works.");
});

test("an exposed key from the server's own machine is not reported as read by others", () => {
  const words = exposureWords(apiKeyFixture({ exposed_at, exposure: "local" }), now);
  expect(words).toBe("It came from the server's own machine, so no network carried it. It still works.");
});

test("an exposed key is reported as revoked, or as working until its overlap ends", () => {
  const revoked = apiKeyFixture({ exposed_at, exposure: "revoked", revoked_at: exposed_at, status: "revoked" });
  expect(exposureWords(revoked, now)).toContain("It has been revoked since.");
  const rotating = apiKeyFixture({
    exposed_at,
    exposure: "kept",
    status: "rotating",
    expires_at: "2026-11-22T00:00:00.000Z",
  });
  expect(exposureWords(rotating, now)).toContain("It still works until its overlap ends.");
});
