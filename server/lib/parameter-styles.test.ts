import { expect, test } from "bun:test";
import { queryPairs, simpleText } from "./parameter-styles.ts";

const list = ["blue", "black", "brown"];
const object = { R: 100, G: 200 };

// The table "Style Examples" of OpenAPI 3.1.
test.each<[string, boolean, unknown, string]>([
  ["form", false, list, "color=blue,black,brown"],
  ["form", true, list, "color=blue&color=black&color=brown"],
  ["form", true, "blue", "color=blue"],
  ["form", true, "", "color="],
  ["form", false, object, "color=R,100,G,200"],
  ["form", true, object, "R=100&G=200"],
  ["spaceDelimited", false, list, "color=blue%20black%20brown"],
  ["spaceDelimited", true, list, "color=blue&color=black&color=brown"],
  ["pipeDelimited", false, list, "color=blue%7Cblack%7Cbrown"],
  ["deepObject", true, object, "color%5BR%5D=100&color%5BG%5D=200"],
  [
    "deepObject",
    true,
    { a: { b: [1, { c: true }] } },
    "color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=true",
  ],
  ["json", false, object, "color=%7B%22R%22%3A100%2C%22G%22%3A200%7D"],
  ["form", true, ["a&b=c", "ü ,"], "color=a%26b%3Dc&color=%C3%BC%20%2C"],
  ["form", true, [], ""],
  ["form", true, null, ""],
  ["form", true, undefined, ""],
  ["form", true, [null, 1], "color=1"],
  ["form", true, [{ a: 1 }], "color=%7B%22a%22%3A1%7D"],
])("in a query, the style %s with explode %p writes %j as %s", (style, explode, value, expected) => {
  expect(queryPairs(value, { name: "color", style, explode }).join("&")).toBe(expected);
});

test("reserved characters stay as they are if the parameter allows it, except those that end a value", () => {
  const written = { name: "path", style: "form", explode: true };
  expect(queryPairs("a/b?c:d&e#f+g", { ...written, allow_reserved: true })).toEqual(["path=a/b?c:d%26e%23f%2Bg"]);
  expect(queryPairs("a/b", written)).toEqual(["path=a%2Fb"]);
});

test.each<[string, boolean, unknown, string | null]>([
  ["simple", false, list, "blue,black,brown"],
  ["simple", false, object, "R,100,G,200"],
  ["simple", true, object, "R=100,G=200"],
  ["label", false, "blue", ".blue"],
  ["label", true, list, ".blue.black.brown"],
  ["label", true, object, ".R=100.G=200"],
  ["matrix", false, "blue", ";color=blue"],
  ["matrix", false, list, ";color=blue,black,brown"],
  ["matrix", true, list, ";color=blue;color=black;color=brown"],
  ["matrix", true, object, ";R=100;G=200"],
  ["simple", false, ["a/b", ".."], "a%2Fb,.."],
  ["simple", false, [], null],
])("in a path, the style %s with explode %p writes %j as %s", (style, explode, value, expected) => {
  expect(simpleText(value, { name: "color", style, explode }, encodeURIComponent)).toBe(expected);
});
