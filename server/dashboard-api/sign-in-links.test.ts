import { expect, test } from "bun:test";
import { createSignInLinks } from "./sign-in-links.ts";

const user = { id: "usr_1", email: "ada@example.com", role: "owner" as const };
const open = async () => "cookie";

test("a link signs in once, also if it is opened twice at once", async () => {
  let used = 0;
  const links = createSignInLinks({ onUsed: () => used++ });
  const token = links.issue(user);
  const opened: unknown[] = [];
  const note = async (person: unknown) => opened.push(person);
  const results = await Promise.all([links.redeem(token, note), links.redeem(token, note)]);
  expect([results, opened, used]).toEqual([[1, null], [user], 1]);
  expect(await links.redeem(token, open)).toBeNull();
});

test("a link whose session could not be opened can be opened again", async () => {
  const links = createSignInLinks();
  const token = links.issue(user);
  await expect(links.redeem(token, () => Promise.reject(new Error("The disk is full.")))).rejects.toThrow("full");
  expect(await links.redeem(token, open)).toBe("cookie");
});

test("a new link voids the one before", async () => {
  const links = createSignInLinks();
  const before = links.issue(user);
  const token = links.issue(user);
  expect([await links.redeem(before, open), await links.redeem(token, open)]).toEqual([null, "cookie"]);
});

test("a link is valid for half an hour", async () => {
  let now = 0;
  const links = createSignInLinks({ now: () => now });
  const token = links.issue(user);
  now = 30 * 60_000;
  expect(await links.redeem(token, open)).toBeNull();
});

test("a token that was never issued does not sign in", async () => {
  const links = createSignInLinks();
  expect(await links.redeem("", open)).toBeNull();
  links.issue(user);
  expect([await links.redeem("", open), await links.redeem("x".repeat(43), open)]).toEqual([null, null]);
});
