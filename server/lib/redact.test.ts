import { expect, test } from "bun:test";
import { hide, hideCut, hideInJson } from "./redact.ts";

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

test("in JSON it is hidden in names, texts and numbers at any depth, and the rest stays as it was", () => {
  const value = { a: [{ [secret]: `x${secret}`, n: 1, t: true, z: null }], id: 1234567890 };
  expect(hideInJson(value, [secret, "1234567890"])).toEqual({
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
