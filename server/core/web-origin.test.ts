import { expect, test } from "bun:test";
import { originFault } from "./web-origin.ts";

test.each([
  "https://example.com",
  "https://a.example.com:8443",
  "http://localhost:5173",
  "http://127.0.0.1",
  "http://[::1]:8080",
])("%s is an origin, as a browser spells it", (text) => expect(originFault(text)).toBeNull());

test.each([
  ...["*", "null", "", "example.com", "https://example.com/", "https://EXAMPLE.com", "https://example.com:443"],
  ...[
    "http://example.com",
    "https://u:p@example.com",
    "file:///etc",
    "https://example.com/chat",
    "https://*.example.com/",
  ],
])("%p is none that a page may come from", (text) => {
  expect(originFault(text)).toBeString();
});
