import { expect, test } from "bun:test";
import { createSeal } from "./seal.ts";

const key = crypto.getRandomValues(new Uint8Array(32));
const seal = createSeal(key);

test("a sealed text opens with the same key and context, and reveals nothing of itself", () => {
  for (const plain of ["", "secret", "ä€😀".repeat(1000)]) {
    const sealed = seal.seal(plain, "row");
    expect(seal.open(sealed, "row")).toBe(plain);
    if (plain) expect(sealed).not.toContain(plain);
  }
});

test("sealing the same text twice has different results", () => {
  expect(seal.seal("secret", "row")).not.toBe(seal.seal("secret", "row"));
});

test("a sealed text does not open in another row, under another key, or after any change", () => {
  const sealed = seal.seal("secret", "row");
  expect(() => seal.open(sealed, "another row")).toThrow();
  expect(() => createSeal(crypto.getRandomValues(new Uint8Array(32))).open(sealed, "row")).toThrow();
  const bytes = Buffer.from(sealed.slice(3), "base64url");
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i]! ^= 1;
    expect(() => seal.open(`v1.${changed.toString("base64url")}`, "row")).toThrow();
  }
  for (const cut of ["", "v1.", "v2.AAAA", sealed.slice(0, 20)]) expect(() => seal.open(cut, "row")).toThrow();
});

test("a master key of another length is refused", () => {
  expect(() => createSeal(new Uint8Array(16))).toThrow("32 bytes");
});
