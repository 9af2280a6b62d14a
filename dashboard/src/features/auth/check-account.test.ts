import { expect, test } from "bun:test";
import { checkAccount } from "./check-account.ts";
import { safeReturn } from "./safe-return.ts";

const good = {
  token: "7QX2",
  email: "mara@acme.example",
  password: "correct horse battery",
  repeat: "correct horse battery",
};

test("a complete account is valid", () => {
  expect(checkAccount(good)).toEqual({});
});

test("each error appears at its field", () => {
  expect(Object.keys(checkAccount({ token: " ", email: "mara", password: "short", repeat: "other" }))).toEqual([
    "token",
    "email",
    "password",
    "repeat",
  ]);
  expect(checkAccount({ ...good, password: "elevenchars", repeat: "elevenchars" }).password).toStartWith(
    "1 more character.",
  );
});

test("signing in redirects only to pages of the dashboard", () => {
  for (const page of ["/runs?status=failed", "/runs?q=two+words"]) expect(safeReturn(page)).toBe(page);
  for (const hostile of [
    "//evil.example",
    "https://evil.example",
    "/\\evil.example",
    "javascript:alert(1)",
    "/login?to=/login",
    undefined,
  ])
    expect(safeReturn(hostile)).toBe("/overview");
});
