import { expect, test } from "bun:test";
import { runsTool, toolsWorstUsd } from "./provider-tools.ts";

test("OpenAI's one limit for all tools is reserved at the price of the dearest", () => {
  const tools = [
    { type: "web_search" as const, max_uses: 5 },
    { type: "code_execution" as const, max_uses: 5 },
  ];
  expect(toolsWorstUsd("openai", "gpt-5", tools)).toBeCloseTo(0.3, 9);
  expect(toolsWorstUsd("anthropic", "claude-sonnet-4-5", tools)).toBeCloseTo(0.05, 9);
});

test("a search whose filter the provider lacks is not run without it", () => {
  const search = { type: "web_search" as const, max_uses: 5, allowed_domains: ["intra.example"] };
  expect(["anthropic", "openai", "google", "vertex", "groq"].filter((provider) => runsTool(provider, search))).toEqual([
    "anthropic",
    "openai",
  ]);
});
