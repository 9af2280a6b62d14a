import { expect, test } from "bun:test";
import {
  answer,
  completed,
  created,
  entriesOf,
  guardrailDecided,
  restarted,
  started,
  text,
} from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { traceOf } from "../../domain/trace.ts";
import { attributesOf, spansIn } from "../../testing/otlp-receiver.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { spansOf } from "./otlp.ts";
import { spanIdOf, traceIdOf } from "./otlp-json.ts";
import { outputMessages, shortText } from "./otlp-messages.ts";

const agent = { name: "a", instructions: "", settings: {}, output_schema: null } as unknown as AgentSnapshot;

async function newAgent(client: Client, script: ScriptEntry[], more: object = {}): Promise<string> {
  const draft = { name: "Clerk", instructions: "Be brief.", model: "test/script", model_settings: { script }, ...more };
  const { status, body } = await client.post("/v1/agents", draft);
  expect([status, body.error]).toEqual([201, undefined]);
  return body.id;
}

const calls = (...names: string[]): ScriptEntry => ({
  tool_calls: names.map((name) => ({ name, arguments: { input: "Rain in Paris?" } })),
});

/** Completes a run that thinks, calls a missing tool and an agent that answers, and answers. */
async function ran(client: Client, more: object = {}) {
  const child = await newAgent(client, [{ text: "Deep." }], { name: "Deep" });
  const { body: tool } = await client.post("/v1/tools", { name: "deep", type: "agent", agent_id: child });
  const script = [{ reasoning: "Hm.", ...calls("gone", "deep") }, { text: "Dry." }];
  const agent_id = await newAgent(client, script, { tools: [tool.id] });
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Rain?", ...more });
  expect(body).toMatchObject({ status: "completed" });
  return body;
}

async function exported(client: Client, id: string, query = "") {
  const { status, body } = await client.get(`/v1/traces/${id}?format=otlp${query}`);
  expect(status).toBe(200);
  return spansIn(body);
}

test("a trace is exported as spans of the GenAI conventions, with agents' runs within the calls that started them", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await ran(client, { session_id: "s1", metadata: { team: "red" } });
  const spans = await exported(client, run.id);
  const parentOf = (name: string) => {
    const { parentSpanId } = spans.find((span) => span.name === name)!;
    return spans.find(({ spanId }) => spanId === parentSpanId)?.name;
  };
  expect(spans.map(({ name }) => name)).toEqual([
    "invoke_agent Clerk",
    "chat script",
    "execute_tool gone",
    "execute_tool deep",
    "chat script",
    "invoke_agent Deep",
    "chat script",
  ]);
  expect(parentOf("invoke_agent Clerk")).toBeUndefined();
  expect(parentOf("execute_tool deep")).toBe("invoke_agent Clerk");
  expect(parentOf("invoke_agent Deep")).toBe("execute_tool deep");
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(7);
  expect(attributesOf(spans[0]!)).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "test",
    "gen_ai.request.model": "script",
    "gen_ai.agent.id": run.agent_id,
    "gen_ai.agent.version": "1",
    "gen_ai.conversation.id": "s1",
    "gen_ai.usage.input_tokens": run.usage.input_tokens,
    "gen_ai.output.messages": JSON.stringify([
      { role: "assistant", parts: [{ type: "text", content: "Dry." }], finish_reason: "stop" },
    ]),
    "runnel.run.status": "completed",
    "runnel.metadata.team": "red",
  });
  const said = attributesOf(spans[1]!);
  expect(said).toMatchObject({ "gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"] });
  expect(JSON.parse(said["gen_ai.input.messages"] as string)).toEqual([
    { role: "user", parts: [{ type: "text", content: "Rain?" }] },
  ]);
  expect(JSON.parse(said["gen_ai.output.messages"] as string)).toMatchObject([
    { role: "assistant", parts: [{ type: "reasoning" }, { type: "tool_call", name: "gone" }, { name: "deep" }] },
  ]);
  expect(spans[2]).toMatchObject({ kind: 1, status: { code: 2 } });
  expect(attributesOf(spans[2]!)).toMatchObject({
    "error.type": "tool_not_found",
    "gen_ai.tool.name": "gone",
    "gen_ai.tool.call.arguments": '{"input":"Rain in Paris?"}',
  });
  // The whole prompt each time, not only its new messages: a reader of one call sees what its model saw.
  expect(JSON.parse(attributesOf(spans[4]!)["gen_ai.input.messages"] as string)).toMatchObject([
    { role: "user", parts: [{ type: "text", content: "Rain?" }] },
    { role: "assistant", parts: [{ type: "reasoning", content: "Hm." }, { name: "gone" }, { name: "deep" }] },
    { role: "tool", parts: [{ type: "tool_call_response" }] },
    { role: "tool", parts: [{ type: "tool_call_response", response: "Deep." }] },
  ]);
});

test("a trace has the same ids every time, and a child run exported on its own belongs to its parent's trace", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await ran(client);
  const spans = await exported(client, run.id);
  expect(await exported(client, run.trace_id)).toEqual(spans);
  const child = run.tool_calls[1].subagent_run_id;
  expect(await exported(client, child)).toEqual(spans.slice(5));
});

test("a replay is a trace of its own that names its run, and has no spans of others", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await ran(client);
  const { body: replay } = await client.post(`/v1/runs/${run.id}/replay`, {});
  const spans = await exported(client, replay.id);
  expect(spans.map(({ name }) => name)).toEqual([
    "invoke_agent Clerk",
    "chat script",
    "execute_tool gone",
    "execute_tool deep",
    "chat script",
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([traceIdOf(replay.id)]));
  expect(spans[0]!.links).toMatchObject([{ traceId: traceIdOf(run.id), spanId: spanIdOf(run.id, "run") }]);
  expect(spans.slice(1).map((span) => attributesOf(span)["runnel.step.replayed"])).toEqual(Array(4).fill(true));
});

test("without content, an export has no text of the run", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await ran(client);
  const bare = await exported(client, id, "&content=false");
  const all = await exported(client, id, "&content=true");
  expect(bare.map(({ spanId }) => spanId)).toEqual(all.map(({ spanId }) => spanId));
  const words = ["Rain", "Paris", "Hm.", "Dry.", "Deep.", "Be brief."];
  expect(words.filter((word) => JSON.stringify(all).includes(word))).toEqual(words);
  expect(words.filter((word) => JSON.stringify(bare).includes(word))).toEqual([]);
});

test("long texts are truncated, and JSON stays valid JSON", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, [{ text: "y".repeat(100_000) }]);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "x".repeat(200_000) });
  for (const span of await exported(client, body.id))
    for (const [key, value] of Object.entries(attributesOf(span))) {
      expect(String(value).length).toBeLessThan(70_000);
      if (key.endsWith(".messages"))
        expect(JSON.parse(value as string)[0].parts[0].content).toContain("00000 characters)");
    }
});

test("a step of many calls with long arguments does not exceed the limit of an attribute", () => {
  const tool_calls = Array.from({ length: 128 }, (_, i) => ({
    id: `${i}`,
    name: "look",
    arguments: { x: "x".repeat(9000) },
  }));
  const json = outputMessages({ content: "", tool_calls, finish: "tool_calls" });
  expect(json.length).toBeLessThan(64_000);
  expect(JSON.parse(json)[0].parts).toHaveLength(128);
});

test("values that decoders refuse are replaced: lone surrogates, and times before 1970", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, [{ text: "Hi \ud83d", ...calls("\ud83d") }, { text: "😀".repeat(5000) }]);
  const metadata = { "half\ud83d": "half\ud83d" };
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: `x${"😀".repeat(5000)}`, metadata });
  expect(body.status).toBe("completed");
  expect((await exported(client, body.id)).length).toBe(4);
  for (const text of ["\ud83d", `x${"😀".repeat(5000)}`]) expect(shortText(text).isWellFormed()).toBe(true);
  const decided = guardrailDecided(0, { latency_ms: 1e14 });
  const trace = traceOf(entriesOf(created(), decided));
  const [, span] = [...spansOf({ trace, agent, root: "run_a", source: null }, { content: () => true })];
  expect(span!.startTimeUnixNano).toBe("0");
});

test("a failed run has the error status, and so has the step that failed", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, [{ error: "model_error" }]);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "x" });
  expect(body.status).toBe("failed");
  const [root, chat] = await exported(client, body.id);
  for (const { status } of [root!, chat!]) expect(status).toEqual({ code: 2, message: body.error.message });
  const bare = await exported(client, body.id, "&content=false");
  expect(bare.map(({ status }) => status)).toEqual([{ code: 2 }, { code: 2 }]);
  expect(attributesOf(root!)).toMatchObject({ "error.type": body.error.code, "runnel.run.status": "failed" });
});

test("discarded attempts, recoveries and a run's origin are exported", () => {
  const trace = traceOf(
    entriesOf(
      created({ forked_from: { run_id: "run_source", step_index: 4 }, recorded_to: 1 }),
      started(0),
      restarted(0, 2, { reason: { code: "model_error", message: "503" }, delay_ms: 500 }),
      { type: "run.recovered", attempt: 2, step_index: 0 },
      completed(0, { answer: answer([text("Hi")]) }),
    ),
  );
  const source = { run_id: "run_source", root: "run_root" };
  const spans = (content: boolean) => [...spansOf({ trace, agent, root: "run_a", source }, { content: () => content })];
  const [root, chat] = spans(true);
  expect(root!.links).toMatchObject([{ traceId: traceIdOf("run_root"), spanId: spanIdOf("run_source", "run") }]);
  expect(root!.events.map((event) => [event.name, attributesOf(event)])).toEqual([
    ["runnel.recovery", { "runnel.attempt": 2, "runnel.step.index": 0 }],
  ]);
  expect(chat!.events.map((event) => [event.name, attributesOf(event)])).toEqual([
    [
      "runnel.retry",
      { "runnel.attempt": 1, "error.type": "model_error", "exception.message": "503", "runnel.delay_ms": 500 },
    ],
  ]);
  expect(JSON.stringify(spans(true))).toContain('"503"');
  expect(JSON.stringify(spans(false))).not.toContain('"503"'); // An error message may quote a tool or a model.
});

test("an unknown format, and options of another format, are refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await ran(client);
  for (const query of [
    "format=zipkin",
    "content=false",
    "format=otlp&content=1",
    "format=otlp&limit=3",
    "format=otlp&include=raw",
  ])
    expect((await client.get(`/v1/traces/${id}?${query}`)).status).toBe(400);
});
