import { expect, test } from "bun:test";
import { blocksOf, createReader } from "./readme-reader.ts";

// The README's chapter on replays, forks, comparisons and capsules, typed behind the quick start's first run, which it is about.

const start = blocksOf("Quick start");
const begin = start.slice(
  0,
  start.findIndex(({ code }) => code.includes("kill -9")),
);
const chapter = blocksOf("Replay, fork, compare");

test("every command of the chapter on replays prints what the README says", async () => {
  expect(chapter).toHaveLength(5);
  await using reader = createReader();
  await reader.type([...begin, ...chapter]);
}, 60_000);
