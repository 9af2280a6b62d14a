import { expect, test } from "bun:test";
import { hideInAnyCase, hideInJson, maskSecrets, maskTruncated } from "./redact.ts";

const secret = "canary-0123456789";

test("the secret is masked wherever it occurs, and similar texts are not", () => {
  expect(maskSecrets(`a ${secret} and ${secret}${secret}.`, [secret])).toBe("a [hidden] and [hidden][hidden].");
  expect(maskSecrets("Bearer sk-0123456789abcdefgh", [secret])).toBe("Bearer sk-0123456789abcdefgh");
});

test("if one secret is a prefix of another, nothing is left of either", () => {
  for (const secrets of [
    [secret, `${secret}-and-more`],
    [`${secret}-and-more`, secret],
  ])
    expect(maskSecrets(`${secret}-and-more`, secrets)).toBe("[hidden]");
});

test("a secret of less than eight characters is not masked, because it occurs within ordinary words", () => {
  expect(maskSecrets("a red herring", ["red"])).toBe("a red herring");
});

test("in JSON a secret is masked in names, strings and numbers at any depth, and the rest stays the same", async () => {
  const value = { a: [{ [secret]: `x${secret}`, n: 1, t: true, z: null }], id: 1234567890 };
  expect(await hideInJson(value, [secret, "1234567890"])).toEqual({
    a: [{ "[hidden]": "x[hidden]", n: 1, t: true, z: null }],
    id: "[hidden]",
  });
});

test("the beginning of a secret at a cut is masked, except for a few letters", () => {
  for (let length = 4; length < secret.length; length++)
    expect(maskTruncated(`text ${secret.slice(0, length)}`, [secret])).toBe("text [hidden]");
  expect(maskTruncated("text can", [secret])).toBe("text can");
  expect(maskTruncated(`text ${secret}`, [secret])).toBe("text [hidden]");
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
    expect(maskSecrets(`${escaped}${spelled}${escaped}${spelled}`, [odd])).toBe(`${escaped}[hidden]${escaped}[hidden]`);
  for (let length = Math.ceil(spelled.length / 2); length < spelled.length; length++)
    expect(maskTruncated(`text ${spelled.slice(0, length)}`, [odd])).toBe("text [hidden]");
});

test("two secrets that share letters leave none of them", () => {
  expect(maskSecrets("x0123456789abcdefx", ["0123456789", "56789abcdef"])).toBe("x[hidden]x");
});

test("a secret in lower case is found in any case, and no other letters change", () => {
  expect(hideInAnyCase("İ canary-ABC.example", ["Canary-Abc"])).toBe("İ [hidden].example");
});
