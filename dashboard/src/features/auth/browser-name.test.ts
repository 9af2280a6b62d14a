import { expect, test } from "bun:test";
import { browserName } from "./browser-name.ts";

test.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
    "Chrome on Linux",
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "Firefox on Linux"],
  ["Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1", "Safari on iOS"],
  ["Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537 Chrome/140 Safari/537 Edg/140.0", "Edge on Windows"],
  ["something", "Unknown browser"],
  [null, "Unknown browser"],
])("%p is %s", (userAgent, name) => {
  expect(browserName(userAgent)).toBe(name);
});
