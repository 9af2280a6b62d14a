import { expect, test } from "bun:test";
import { isAddressRule, isMailAddress, matchesAddress, readMailbox } from "./mail-address.ts";

test.each(["ada@example.com", "ada+tag@mail.example.co.uk", "o'hara@x.de", "a@localhost"])("%s is an address", (text) =>
  expect(isMailAddress(text)).toBe(true),
);

test.each([
  "",
  "ada",
  "ada@",
  "@example.com",
  "ada@@example.com",
  "ada@example.com, bob@example.com",
  "Ada <ada@example.com>",
  "ada@example.com\r\nBcc: bob@example.com",
  "ada@exa mple.com",
  "ada@example..com",
  `${"a".repeat(65)}@example.com`,
])("%p is none", (text) => expect(isMailAddress(text)).toBe(false));

test("a sender is an address with or without a name, and only one", () => {
  expect(readMailbox("Support <support@example.com>")).toEqual({ name: "Support", address: "support@example.com" });
  expect(readMailbox('"Support, Inc." <support@example.com>')?.name).toBe("Support, Inc.");
  expect(readMailbox("support@example.com")).toEqual({ name: "", address: "support@example.com" });
  for (const text of ["Support", "a@x.de, b@x.de", "A <a@x.de> B <b@x.de>", "A\r\nBcc: b@x.de <a@x.de>"])
    expect(readMailbox(text)).toBeNull();
});

test("a rule names an address or a domain, in any case", () => {
  expect(["ada@example.com", "*@example.com"].every(isAddressRule)).toBe(true);
  expect(["*", "*@", "@example.com", "*@*.com"].some(isAddressRule)).toBe(false);
  expect(matchesAddress("Ada@Example.com", ["ada@example.com"])).toBe(true);
  expect(matchesAddress("bob@example.com", ["*@Example.com"])).toBe(true);
  expect(matchesAddress("bob@sub.example.com", ["*@example.com"])).toBe(false);
  expect(matchesAddress("bob@evil-example.com", ["*@example.com"])).toBe(false);
  expect(matchesAddress("ada@example.com", [])).toBe(false);
});
