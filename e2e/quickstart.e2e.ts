import { expect, test } from "bun:test";
import { startModelServer } from "./model-server.ts";
import { blocksOf, createReader } from "./readme-reader.ts";

// The README's quick start, block by block in one shell, as a stranger would type it: what it shows is what happens.

const blocks = blocksOf("Quick start");

test("the quick start starts, kills, starts again, and is typed in between", () => {
  const kinds = blocks.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "start")).toHaveLength(2);
  expect(kinds.filter((kind) => kind === "settings")).toHaveLength(1);
  expect(kinds.filter((kind) => kind === "quickstart").length).toBeGreaterThan(3);
  const typed = blocks.map(({ code }) => code);
  expect(typed.some((code) => code.includes("kill -9"))).toBe(true);
  expect(typed.at(-1)).toContain("ollama/");
  const shown = blocks.map(({ expected }) => expected ?? "").join("\n");
  expect(shown, "the run that was killed goes on").toContain("event: run.recovered\nevent: run.completed");
});

test("every command of the quick start prints what the README says", async () => {
  await using ollama = startModelServer();
  await using reader = createReader({ OLLAMA_BASE_URL: ollama.url });
  await reader.type(blocks);
  expect(ollama.count("llama3.2"), "the quick start ends with a real model").toBe(1);
}, 90_000);
