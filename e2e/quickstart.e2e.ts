import { expect, test } from "bun:test";
import { blocksOf, createReader } from "./readme-reader.ts";

// The README's quick start, block by block in one shell, as a stranger would type it: what it shows is what happens.

const blocks = blocksOf("Quick start");

test("the quick start starts, kills, starts again, and is typed in between", () => {
  const kinds = blocks.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "start")).toHaveLength(2);
  expect(kinds.filter((kind) => kind === "settings")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "quickstart").length).toBeGreaterThan(3);
  expect(blocks.some(({ code }) => code.includes("kill -9"))).toBe(true);
});

test("every command of the quick start prints what the README says", async () => {
  await using reader = createReader();
  await reader.type(blocks);
}, 60_000);
