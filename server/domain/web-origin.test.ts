import { expect, test } from "bun:test";
import { originFault } from "./web-origin.ts";

test.each([
  "https://example.com",
  "https://a.example.com:8443",
  "http://localhost:5173",
  "http://127.0.0.1",
  "http://[::1]:8080",
  "https://xn--mnchen-3ya.de",
  "https://a_b.example",
  "https://example.com.",
  "https://intranet",
])("%s is an origin, as a browser spells it", (text) => expect(originFault(text)).toBeNull());

test.each([
  "*",
  "null",
  "",
  "example.com",
  "https://example.com/",
  "https://EXAMPLE.com",
  "https://example.com:443",
  "http://example.com",
  "https://u:p@example.com",
  "file:///etc",
  "https://example.com/chat",
  "https://*.example.com/",
])("%p is none that a page may come from", (text) => {
  expect(originFault(text)).toBeString();
});

test.each([
  "https://*.example",
  "https://*",
  "https://shop.*",
  "https://%2a.example",
  "https://*.example:8443",
  "http://*.localhost",
  "https://a!b.example",
  "https://a..example",
  "https://-a.example",
  "https://.example",
  "https://a,b.example",
  "https://1.2.3.999",
  "https://a.example:99999",
  "https://ex ample.com",
  "https://a$b",
  "ftp://example.com",
])("no page comes from %p, so that it is refused", (text) => {
  expect(originFault(text)).toBeString();
});

test.each([
  ["https://Shop.Example", "https://shop.example"],
  ["https://münchen.de", "https://xn--mnchen-3ya.de"],
  ["https://shop.example:443", "https://shop.example"],
  ["https://shop.example/", "https://shop.example"],
  ["https://127.1", "https://127.0.0.1"],
])("for %p the message shows the browser's spelling", (text, origin) => {
  expect(originFault(text)).toBe(`Browsers write this origin ${origin}.`);
});
