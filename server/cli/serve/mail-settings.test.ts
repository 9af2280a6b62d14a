import { expect, test } from "bun:test";
import { mailSecrets, mailSettings } from "./mail-settings.ts";

const whole = { smtpUrl: "smtps://me:p%40ss@mail.example.com:465", mailFrom: "runnel <runnel@example.com>" };

test("mail is set by a server and an address, and the log gets neither form of the password", () => {
  expect(mailSettings({})).toBeNull();
  expect(mailSettings(whole)).toEqual({ url: whole.smtpUrl, from: whole.mailFrom });
  expect(mailSecrets(mailSettings(whole))).toEqual(["p%40ss", "p@ss"]);
  expect(mailSecrets(null)).toEqual([]);
});

test.each([
  ["--mail-from", { smtpUrl: whole.smtpUrl }],
  ["--smtp-url", { mailFrom: whole.mailFrom }],
  ["takes an address", { ...whole, smtpUrl: "https://mail.example.com" }],
  ["takes an address", { ...whole, smtpUrl: "mail.example.com" }],
  ["takes an address", { ...whole, mailFrom: "runnel" }],
  ["takes an address", { ...whole, mailFrom: "a@b.c\r\nBcc: x@y.z" }],
])("half of it is refused with what is wrong: %s", (message, flags) =>
  expect(() => mailSettings(flags)).toThrow(message),
);
