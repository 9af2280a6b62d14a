import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { embeddingEntry, embeddingFiles, vecLibrary, workerEntry } from "./assets.ts";

test("the vector library loads from its reported path, and a run from source copies nothing", () => {
  using db = new Database(":memory:");
  db.loadExtension(vecLibrary("/nonexistent"));
  expect(db.query("SELECT vec_version() AS version").get()).toEqual({ version: expect.stringMatching(/^v\d/) });
  expect(existsSync("/nonexistent")).toBe(false);
});

test("the threads' files are found from source", () => {
  expect(fileURLToPath(workerEntry())).toEndWith("/server/runtime/agent-loop/entry.ts");
  expect(existsSync(fileURLToPath(embeddingEntry()))).toBe(true);
});

test("the embedding model's files are found from source", () => {
  const { weights, ...others } = embeddingFiles();
  expect([...weights, ...Object.values(others)].filter((path) => !existsSync(path))).toEqual([]);
});
