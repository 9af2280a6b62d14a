import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { environmentOf, mintSecret } from "./secret.ts";

// Others build their scanners from this program, so its rules must hold for every key, also in the future.
const source = readFileSync(join(import.meta.dir, "../../docs/files/find-keys.mjs"), "utf8");

async function published(): Promise<{ findKeys: (text: string) => string[] }> {
  const file = join(tmpdir(), `runnel-scanner-${crypto.randomUUID()}.mjs`);
  await Bun.write(file, source);
  return await import(file).finally(() => rmSync(file));
}

test("the documented scanner finds every key in a text, and no lookalike", async () => {
  const { findKeys } = await published();
  const keys = Array.from({ length: 500 }, (_, index) => mintSecret(index % 2 === 0 ? "test" : "live"));
  expect(findKeys(keys.map((key) => `export KEY="${key}"; # ${key.slice(0, -1)}`).join("\n"))).toEqual(keys);
  for (const key of keys) {
    const place = 8 + Math.floor(Math.random() * 39);
    const wrong = key[place] === "0" ? "1" : "0";
    expect(findKeys(key.slice(0, place) + wrong + key.slice(place + 1))).toEqual([]);
    expect(findKeys(`${key}x`)).toEqual([]);
  }
  expect(findKeys(keys[0]!.replace("test", "live"))).toEqual([]);
});

test("an old key stays recognizable, for the scanner and for the server", async () => {
  const { findKeys } = await published();
  const key = "sk_test_0123456789ABCDEFGHIJKLMNOPQRSTUVW2axcbP";
  expect(findKeys(`key=${key}`)).toEqual([key]);
  expect(environmentOf(key)).toBe("test");
});
