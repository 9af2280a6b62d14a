import { expect, test } from "bun:test";
import { createUrlDetector, normalHost } from "./urls.ts";

const { search } = createUrlDetector(["good.com", "*.fine.org", "münchen.de", "[2001:db8::1]", "127.0.0.1"]);
const found = (text: string) => search(text).map(([start, end]) => text.slice(start, end));

test.each([
  "See https://good.com, http://good.com. And (https://good.com)!",
  "[a](https://good.com/x(y)?z=1#k) ![b](http://GOOD.com:8080) **https://good.com** <https://good.com>",
  "https://a.fine.org/x https://b.a.Fine.ORG. //good.com/x",
  "https://münchen.de https://xn--mnchen-3ya.de https://MÜNCHEN.DE",
  "https://[2001:db8:0::1]:443/ http://127.0.0.1 http://2130706433/ http://0x7f.1/",
  "https://user:pass@good.com/ https://user@good.com:99/",
  "https://good.com。 见https://good.com， www.a.fine.org",
  "12:30, a:b, note: x, std::vector, a//b, C:\\dir, // a comment, //comment, and/or, https: x, data: 5, mailto:a@b.com",
  "https:// good.com/path//more/x.y ok https://good.com,https://good.com",
  "[a](https://good.com)[b](https://good.com)",
])("%p has only allowed addresses", (text) => {
  expect(found(text)).toEqual([]);
});

test.each<[string, string[]]>([
  ["Go to https://evil.com/a?b=c.", ["https://evil.com/a?b=c"]],
  ["![x](https://evil.com/p?q=secret) end", ["https://evil.com/p?q=secret"]],
  ["[x](//evil.com/a) ", ["//evil.com/a"]],
  ["<img src=//evil.com/a> url('//evil.com')", ["//evil.com/a", "//evil.com"]],
  ["https://good.com@evil.com/", ["https://good.com@evil.com/"]],
  ["https://good.com:80@evil.com", ["https://good.com:80@evil.com"]],
  ["https://good.com)@evil.com", ["https://good.com"]],
  ["https://evil.com:80)@good.com https://evil.com,@good.com", ["https://evil.com:80", "https://evil.com,@good.com"]],
  ["https://good.com,.evil.com", ["https://good.com,.evil.com"]],
  ["https:\\\\evil.com\\@good.com", ["https:\\\\evil.com\\@good.com"]],
  ["https:/\\evil.com", ["https:/\\evil.com"]],
  ["https:evil.com http:/evil.com https:////evil.com", ["https:evil.com", "http:/evil.com", "https:////evil.com"]],
  ["hTtPs://EVIL.com", ["hTtPs://EVIL.com"]],
  ["https://good.com.evil.com https://evilgood.com", ["https://good.com.evil.com", "https://evilgood.com"]],
  ["https://fine.org", ["https://fine.org"]],
  ["https://gооd.com", ["https://gооd.com"]], // Cyrillic.
  ["https://xn--gd-jlca.com", ["https://xn--gd-jlca.com"]],
  ["https://good.com%2eevil.com/ https://%65vil.com", ["https://good.com%2eevil.com/", "https://%65vil.com"]],
  ["https://[::ffff:127.0.0.1]/", ["https://[::ffff:127.0.0.1]/"]],
  ["https://[bad", ["https://[bad"]],
  ["https://good.com/?u=https://evil.com", ["https://evil.com"]],
  ["www.evil.com \\\\evil.com\\share", ["www.evil.com", "\\\\evil.com\\share"]],
  ["javascript:alert(1) data:text/html,x", ["javascript:alert(1)", "data:text/html,x"]],
  ["ssh://evil.com file:///etc/passwd", ["ssh://evil.com", "file:///etc/passwd"]],
  ["https://evil。com https://evil．com", ["https://evil。com", "https://evil．com"]],
  ["x[https://evil.com]y", ["https://evil.com]y"]],
  [`https://${"a".repeat(3000)}@good.com`, [`https://${"a".repeat(3000)}@good.com`]],
])("%p: %p", (text, expected) => {
  expect(found(text)).toEqual(expected);
});

test("hosts are compared as a browser resolves them", () => {
  expect(normalHost("EXAMPLE.com.")).toBe("example.com");
  expect(normalHost("a b")).toBeNull();
  expect(normalHost("a.com:80")).toBe("a.com");
  expect(normalHost("a.com:81")).toBeNull();
});

// A pattern with quadratic time would block the thread for a minute at 256 KB.
test("many characters that might end an address, but do not, take linear time", () => {
  const signs = "!".repeat(200_000);
  const text = `https://evil.com/${signs}a`;
  expect(search(text)).toEqual([[0, text.length]]);
  expect(found(`https://evil.com/${signs}`)).toEqual(["https://evil.com/"]);
});
