import { expect, test } from "bun:test";
import { hide, hideCut, hideInAnyCase, hideInJson } from "./redact.ts";

const secret = "canary-0123456789";

test("the secret is hidden wherever it stands in a text, and nothing that only looks like one", () => {
  expect(hide(`a ${secret} and ${secret}${secret}.`, [secret])).toBe("a [hidden] and [hidden][hidden].");
  expect(hide("Bearer sk-0123456789abcdefgh", [secret])).toBe("Bearer sk-0123456789abcdefgh");
});

test("of two secrets of which one begins the other, neither leaves a rest", () => {
  for (const secrets of [
    [secret, `${secret}-and-more`],
    [`${secret}-and-more`, secret],
  ])
    expect(hide(`${secret}-and-more`, secrets)).toBe("[hidden]");
});

test("a secret of less than eight characters is left: it is part of ordinary words", () => {
  expect(hide("a red herring", ["red"])).toBe("a red herring");
});

test("in JSON it is hidden in names, texts and numbers at any depth, and the rest stays as it was", async () => {
  const value = { a: [{ [secret]: `x${secret}`, n: 1, t: true, z: null }], id: 1234567890 };
  expect(await hideInJson(value, [secret, "1234567890"])).toEqual({
    a: [{ "[hidden]": "x[hidden]", n: 1, t: true, z: null }],
    id: "[hidden]",
  });
});

test("the beginning of a secret at a cut is hidden, however much of it there is, and a few letters are not", () => {
  for (let length = 4; length < secret.length; length++)
    expect(hideCut(`text ${secret.slice(0, length)}`, [secret])).toBe("text [hidden]");
  expect(hideCut("text can", [secret])).toBe("text can");
  expect(hideCut(`text ${secret}`, [secret])).toBe("text [hidden]");
});

const odd = 's3cr/et+Value"42\\-ü%41';
const inJson = JSON.stringify(odd).slice(1, -1);

test.each([
  ["JSON", inJson],
  ["JSON with escaped slashes", inJson.replaceAll("/", "\\/")],
  ["JSON with codes", inJson.replace(/[/+"s]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16).toUpperCase()}`)],
  ["JSON in JSON", JSON.stringify(inJson).slice(1, -1)],
  ["a URL", encodeURIComponent(odd)],
  ["a URL in JSON", `${encodeURIComponent(odd).replaceAll("%2F", "\\/")}`],
  ["HTML", odd.replaceAll('"', "&quot;").replaceAll("/", "&#x2F;").replaceAll("+", "&#43;")],
])("a secret is hidden as it is spelled in %s, and what stands beside it stays", (_, spelled) => {
  expect(spelled).not.toBe(odd);
  for (const escaped of ["50 % \\n", "&amp;"])
    expect(hide(`${escaped}${spelled}${escaped}${spelled}`, [odd])).toBe(`${escaped}[hidden]${escaped}[hidden]`);
  for (let length = Math.ceil(spelled.length / 2); length < spelled.length; length++)
    expect(hideCut(`text ${spelled.slice(0, length)}`, [odd])).toBe("text [hidden]");
});

test("two secrets that share letters leave none of them", () => {
  expect(hide("x0123456789abcdefx", ["0123456789", "56789abcdef"])).toBe("x[hidden]x");
});

test("where names are written small, a secret is found in any case, and no other letters move", () => {
  expect(hideInAnyCase("İ canary-ABC.example", ["Canary-Abc"])).toBe("İ [hidden].example");
});
