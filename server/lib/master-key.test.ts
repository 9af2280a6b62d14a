import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadMasterKey } from "./master-key.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runnel-key-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

test("the first call creates a key that only its owner can read, and later calls read it", () => {
  const key = loadMasterKey(folder, {});
  expect(key).toHaveLength(32);
  expect(loadMasterKey(folder, {})).toEqual(key);
  expect(statSync(join(folder, "master.key")).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["master.key"]);
});

test("the key of the environment is used, and no file is written", () => {
  expect(loadMasterKey(folder, { RUNNEL_MASTER_KEY: "ab".repeat(32) })).toEqual(new Uint8Array(32).fill(0xab));
  expect(readdirSync(folder)).toEqual([]);
});

test("a damaged key is refused and left unchanged", () => {
  writeFileSync(join(folder, "master.key"), "cut");
  expect(() => loadMasterKey(folder, {})).toThrow("master.key must hold 32 bytes");
  expect(() => loadMasterKey(folder, { RUNNEL_MASTER_KEY: "zz" })).toThrow("RUNNEL_MASTER_KEY must hold");
});
