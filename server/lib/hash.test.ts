import { expect, test } from "bun:test";
import { hashJson, sha256 } from "./hash.ts";

test("text and its UTF-8 bytes have the same, standard hash", () => {
  expect(sha256("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  expect(sha256(new TextEncoder().encode("ü"))).toBe(sha256("ü"));
});

test("a value is hashed by its JSON, in which lone surrogates differ", () => {
  expect(hashJson({ a: [1, null] })).toBe(sha256('{"a":[1,null]}'));
  expect(hashJson("\ud83d")).not.toBe(hashJson("\ude00"));
});
