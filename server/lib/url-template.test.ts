import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fillTemplate, namesIn, templateFault } from "./url-template.ts";

const template = "https://api.test:8443/orders/{id}/lines/{line}?view={view}&fixed=1";

test("arguments fill a URL encoded, and unused ones are returned", () => {
  expect(namesIn(template)).toEqual(["id", "line", "view"]);
  expect(fillTemplate(template, { id: "a/b?c#d", line: 7, view: "ü &=+%", other: [1] })).toEqual({
    url: "https://api.test:8443/orders/a%2Fb%3Fc%23d/lines/7?view=%C3%BC%20%26%3D%2B%25&fixed=1",
    rest: { other: [1] },
  });
  expect(fillTemplate("https://a.test/{x}-{x}", { x: true })).toMatchObject({ url: "https://a.test/true-true" });
  expect(fillTemplate("https://a.test/", { x: 1 })).toEqual({ url: "https://a.test/", rest: { x: 1 } });
});

test("no argument leads to another host or path", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.constantFrom("..", ".", "%2e%2e", "../..", "..\\", "//evil.test", "@evil.test", "\ud800", "{id}", "#", "?"),
  );
  fc.assert(
    fc.property(text, text, (id, line) => {
      const filled = fillTemplate(template, { id, line, view: id });
      if ("fault" in filled) return expect([id, line].some((value) => /^\.{1,2}$/.test(value))).toBe(true);
      const url = new URL(filled.url);
      expect(url.origin).toBe("https://api.test:8443");
      const segments = url.pathname.split("/").map(decodeURIComponent);
      expect(segments).toEqual(["", "orders", id.toWellFormed(), "lines", line.toWellFormed()]);
      expect([...url.searchParams]).toEqual([
        ["view", id.toWellFormed()],
        ["fixed", "1"],
      ]);
    }),
  );
});

test.each([
  [{ line: 1, view: "a" }],
  [{ id: null, line: 1, view: "a" }],
  [{ id: "", line: 1, view: "a" }],
  [{ id: ["a"], line: 1, view: "a" }],
  [{ id: { a: 1 }, line: 1, view: "a" }],
  [{ id: "..", line: 1, view: "a" }],
  [{ id: ".", line: 1, view: "a" }],
])("%p fill no URL", (args) => {
  expect(fillTemplate(template, args)).toEqual({ fault: expect.any(String) });
});

test("two adjacent arguments cannot form a step to another path", () => {
  expect(fillTemplate("https://a.test/x/{a}{b}/y", { a: ".", b: "." })).toHaveProperty("fault");
});

describe("an invalid template is reported", () => {
  test.each([
    "https://{host}/",
    "https://a.{zone}.test/",
    "https://a.test:{port}/",
    "{scheme}://a.test/",
    "https://{user}@a.test/",
    "https:\\\\{host}/",
    "{url}",
    "https://a.test/#{part}",
    "https://a.test/{id",
    "https://a.test/id}",
    "https://a.test/{}",
    "https://a.test/{a b}",
    "https://a.test/{?q}",
    "https://a.test/{list*}",
    "https://a.test/{{id}}",
    "https://a.test/{1}",
  ])("%s", (url) => {
    expect(templateFault(url)).toBeString();
  });

  test.each(["https://a.test/", "https://a.test/%7Bid%7D", "https://a.test/{id}", "https://a.test?q={q}", template])(
    "%s is valid",
    (url) => {
      expect(templateFault(url)).toBeNull();
    },
  );
});
