import { expect, test } from "bun:test";
import { readOAuthClientSearch } from "./read-oauth-search.ts";

test("the outcome of a consent and the page are read from an address, and invalid values are left out", () => {
  expect(readOAuthClientSearch({ user: "ada", oauth: "failed", oauth_error: "access_denied", after: "oag_1" })).toEqual(
    {
      user: "ada",
      oauth: "failed",
      oauth_error: "access_denied",
      after: "oag_1",
    },
  );
  expect(readOAuthClientSearch({ oauth: "done", oauth_error: "<b>no</b>", after: "oac_1" })).toEqual({});
});
