import { expect, test } from "bun:test";
import { isHostRule, matchesHost } from "./host-rules.ts";

test.each(["example.com", "*.example.com", "localhost", "127.0.0.1:8080", "Docs.Example.com", "xn--bcher-kva.de"])(
  "%s is a rule for hosts",
  (rule) => expect(isHostRule(rule)).toBe(true),
);

test.each([
  "",
  "*",
  "*.com",
  "*.",
  "https://example.com",
  "example.com/path",
  "a b",
  "user@example.com",
  "exa*mple.com",
  "example.com:",
])("%p is none", (rule) => expect(isHostRule(rule)).toBe(false));

test.each<[string, string, boolean]>([
  ["https://example.com/a", "example.com", true],
  ["https://EXAMPLE.com/a", "Example.COM", true],
  ["https://example.com:8443/", "example.com", false],
  ["https://example.com:8443/", "example.com:8443", true],
  ["https://a.example.com/", "*.example.com", true],
  ["https://a.b.example.com/", "*.example.com", true],
  ["https://example.com/", "*.example.com", false],
  ["https://evilexample.com/", "*.example.com", false],
  ["https://example.com.evil.net/", "example.com", false],
  ["https://example.com@evil.net/", "example.com", false],
])("the host of %s matches %s: %p", (url, rule, matches) => {
  expect(matchesHost(new URL(url), [rule])).toBe(matches);
});
