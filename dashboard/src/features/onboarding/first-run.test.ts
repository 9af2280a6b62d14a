import { expect, test } from "bun:test";
import type { FrameName } from "../../../../server/domain/api-types/enums.ts";
import type { Frame } from "../../lib/events.ts";
import { agentBody, scriptModel } from "./first-run-api.ts";
import { readStartSearch } from "./read-start-search.ts";
import { streamLines } from "./run-step.tsx";

const frame = (event: FrameName, seq: number, ms: number, data: object = {}) =>
  ({ id: String(seq), event, data: { seq, at: new Date(1e12 + ms).toISOString(), ...data } }) as Frame;

test("consecutive tokens share a line, every other event has its own", () => {
  const frames = [
    frame("run.created", 1, 0),
    frame("step.started", 2, 4, { type: "model_call", name: "test/script" }),
    frame("token", 2, 10),
    frame("token", 2, 20),
    frame("tool.requested", 3, 31, { tool: "lookup_order" }),
    frame("token", 6, 50),
  ];
  expect(streamLines(frames).map(({ ms, event, step, detail }) => [ms, event, step, detail])).toEqual([
    [0, "run.created", "run", ""],
    [4, "step.started", "model_call", "test/script"],
    [10, "token", "model_call", "× 2"],
    [31, "tool.requested", "tool_call", "lookup_order"],
    [50, "token", "model_call", "× 1"],
  ]);
});

test("only the built-in model gets a script", () => {
  const written = { name: "a", instructions: "b" };
  expect(agentBody({ ...written, model: scriptModel }, "tool_1")).toHaveProperty("model_settings.script");
  expect(agentBody({ ...written, model: "openai/gpt-5" }, "tool_1")).not.toHaveProperty("model_settings");
});

test("invalid query parameters open the first step", () => {
  expect(readStartSearch({ step: "elsewhere", agent: "run_1" })).toEqual({});
  expect(readStartSearch({ step: "run", agent: "agt_1" })).toEqual({ step: "run", agent: "agt_1" });
});
