import { expect, test } from "bun:test";
import { createSignInLinks } from "./sign-in-links.ts";

const user = { id: "usr_1", email: "ada@example.com", role: "owner" as const };

test("a link signs in once", () => {
  const links = createSignInLinks();
  const token = links.issue(user);
  expect([links.redeem(token), links.redeem(token)]).toEqual([user, null]);
});

test("a new link voids the one before", () => {
  const links = createSignInLinks();
  const before = links.issue(user);
  const token = links.issue(user);
  expect([links.redeem(before), links.redeem(token)]).toEqual([null, user]);
});

test("a link is valid for half an hour", () => {
  let now = 0;
  const links = createSignInLinks({ now: () => now });
  const token = links.issue(user);
  now = 30 * 60_000;
  expect(links.redeem(token)).toBeNull();
});

test("a token that was never issued does not sign in", () => {
  const links = createSignInLinks();
  expect(links.redeem("")).toBeNull();
  links.issue(user);
  expect([links.redeem(""), links.redeem("x".repeat(43))]).toEqual([null, null]);
});
