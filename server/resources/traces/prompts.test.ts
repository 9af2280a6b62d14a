import { expect, test } from "bun:test";
import { answer, completed, created, entriesOf, started, text } from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { modelRequest } from "../../domain/prompt.ts";
import { fold } from "../../domain/run-state.ts";
import { hashJson } from "../../lib/hash.ts";
import { promptsOf } from "./prompts.ts";

const agent: AgentSnapshot = {
  id: "agt_1",
  version: 1,
  name: "Agent",
  model: "test/script",
  instructions: "Be brief.",
  settings: {},
  tools: [],
  max_turns: 5,
  output_schema: null,
};

const begin = [created()];
const firstHash = hashJson(modelRequest(fold(entriesOf(...begin)), agent));
const entries = entriesOf(
  ...begin,
  started(0, { input_hash: firstHash }),
  completed(0, { answer: answer([text("x".repeat(1000))]) }),
  started(1, { turn_index: 1, input_hash: "another" }),
  completed(1, { answer: answer([text("Hi.")]) }),
);
const journal = { read: (_: string, after = 0, limit = -1) => entries.slice(after, after + limit) };
const both = new Set(["stp_0", "stp_1"]);

test("a prompt is shown only if it equals what was sent", async () => {
  const { found } = await promptsOf(journal, "run_a", agent, both, 1_000_000);
  expect([...found.keys()]).toEqual(["stp_0", "stp_1"]);
  expect(found.get("stp_0")).toEqual(modelRequest(fold(entriesOf(...begin)), agent));
  expect(found.get("stp_1")).toBeNull();
});

test("no more prompts are built than fit, but always one", async () => {
  const { found } = await promptsOf(journal, "run_a", agent, both, 1);
  expect([...found.keys()]).toEqual(["stp_0"]);
});
