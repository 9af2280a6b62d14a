import { expect, test } from "bun:test";
import { findModels } from "./find-models.ts";

const models = [
  { id: "anthropic/claude-sonnet-4-5", name: "Claude Sonnet 4.5" },
  { id: "openai/gpt-5-mini" },
  { id: "openai_compatible/router/meta-llama/llama-3.3-70b-instruct", name: "Meta: Llama 3.3 70B" },
  { id: "openai_compatible/router/deepseek/deepseek-chat" },
];
const found = (query: string) => findModels(models, query).map(({ id }) => id.split("/").at(-1));

test.each([
  ["sonnet", ["claude-sonnet-4-5"]],
  ["70b LLAMA", ["llama-3.3-70b-instruct"]],
  ["Sonnet 4.5", ["claude-sonnet-4-5"]],
  ["router", ["llama-3.3-70b-instruct", "deepseek-chat"]],
  ["", models.map(({ id }) => id.split("/").at(-1))],
])("a search for %j finds models by any part of their names", (query, ids) => {
  expect(found(query)).toEqual(ids as string[]);
});

test.each([
  ["sonet", "claude-sonnet-4-5"],
  ["cluade", "claude-sonnet-4-5"],
  ["depseek", "deepseek-chat"],
  ["instrukt lama", "llama-3.3-70b-instruct"],
  ["anthropci sonnet", "claude-sonnet-4-5"],
])("the mistyped %j still finds its model", (query, id) => {
  expect(found(query)).toEqual([id]);
});

test("a typo is allowed only where nothing fits as it is typed, and not in short words", () => {
  expect(found("gpt")).toEqual(["gpt-5-mini"]);
  expect(found("gtp")).toEqual([]);
  expect(found("nothing like it")).toEqual([]);
});
