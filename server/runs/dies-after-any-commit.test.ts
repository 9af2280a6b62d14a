import { afterAll, beforeEach, expect, test } from "bun:test";
import { attached, passage } from "../domain/__fixtures__/events.ts";
import type { AgentSnapshot, Guardrail, PinnedStore, ToolSnapshot } from "../domain/agent-snapshot.ts";
import { newId } from "../domain/ids.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { modelRequest } from "../domain/prompt.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import { fold, isOver, type RunState } from "../domain/run-state.ts";
import type { ToolAnswer } from "../domain/submit.ts";
import { withToolSearch } from "../domain/tool-search/search-tool.ts";
import { hashJson } from "../lib/hash.ts";
import { memoryTools } from "../resources/agents/memory-tools.ts";
import type { Db } from "../storage/db/open.ts";
import { copyDatabase } from "../testing/copy-database.ts";
import {
  handoffTool,
  httpTool,
  runFixture,
  type StreamFrame,
  teamMember,
  textOfFrames,
  tool,
} from "../testing/run-fixture.ts";
import type { AnswerQuestion } from "./dispatch/pool.ts";
import type { CreateRun } from "./schema.ts";
import { parseCursor } from "./stream/stream.ts";

// A server that counts its calls, like a customer's payment service.
let requests: { key: string; run: string; call: string }[] = [];
let arrived = () => {};
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch({ headers }) {
    requests.push({
      key: headers.get("idempotency-key")!,
      run: headers.get("x-run-id")!,
      call: headers.get("x-tool-call-id")!,
    });
    arrived();
    return Response.json({ paid: true });
  },
});
afterAll(() => server.stop(true));
beforeEach(() => {
  requests = [];
  arrived = () => {};
});

type Fixture = ReturnType<typeof runFixture>;

/** Answers all required actions of a run until it is over. */
async function toTheEnd(fixture: Fixture, id: string) {
  for (;;) {
    const run = await fixture.settled(id);
    if (run.status !== "requires_action") return run;
    const { tool_calls } = run.required_action!.submit_tool_outputs;
    const answers = tool_calls.map(
      ({ tool_call_id, needs }): ToolAnswer =>
        needs === "approval" ? { tool_call_id, decision: "approve" } : { tool_call_id, output: `answer to ${needs}` },
    );
    await fixture.service.submit(fixture.scope, id, answers);
  }
}

interface Shape {
  script: ScriptEntry[];
  tools: ToolSnapshot[];
  /** Number of times that a call which must not be repeated can reach its server. */
  repeats?: boolean;
  guardrails?: Guardrail[];
  /** Context window in tokens, and the policy for longer prompts. */
  context?: { window: number; strategy: "compact" | "truncate" };
  /** Memory searched before the first model call. */
  stores?: PinnedStore[];
  /** Instructions with variables, and snippets. */
  texts?: Pick<AgentSnapshot, "instructions" | "variables" | "snippets">;
  run?: Partial<CreateRun>;
  /** Text in every prompt. */
  prompt?: string[];
  /** Agents that it can hand over to. */
  team?: AgentSnapshot[];
}

const memoryOf = ({ context, stores }: Shape) =>
  (context || stores) && {
    stores: stores ?? [],
    history: { mode: "thread" as const, max_messages: 50 },
    context: { strategy: context?.strategy ?? "compact", reserve_output_tokens: 50, tool_output_max_bytes: 40_000 },
  };

/** Long turns, and a last one. */
const talkative: ScriptEntry[] = [
  ...Array.from({ length: 5 }, (_, turn) => ({
    text: `Turn ${turn}: ${"so much is said ".repeat(20)}`,
    tool_calls: [{ name: "pay", arguments: { turn } }],
  })),
  { text: "It is paid." },
];

const notes: PinnedStore = {
  memory_id: "mem_notes",
  name: "Notes",
  kind: "vector",
  scope: "project",
  access: "read_write",
  auto_retrieve: true,
  top_k: 6,
  score_threshold: 0,
};
let looks = 0;

/** A memory that counts its calls; its results differ each time. */
const remember: AnswerQuestion = ({ run_id }, question) => {
  if (["search_memory", "history", "documents"].includes(question.of)) {
    arrived();
    looks++;
  }
  if (question.of === "search_memory") return { matches: [passage({ text: `Search ${looks}` })] };
  if (question.of === "history") return [{ role: "user", content: `History ${looks}` }];
  if (question.of === "documents") return [attached({ text: `Document ${looks}` })];
  if (question.of !== "write_memory") return undefined;
  requests.push({ key: question.tool_call_id, run: run_id, call: question.tool_call_id });
  arrived();
  return { entry_id: "ment_1" };
};

const url = `http://127.0.0.1:${server.port}/pay`;
const pay = { name: "pay", arguments: { amount: 3 } };
const paid: ScriptEntry[] = [{ text: "I shall pay. ", tool_calls: [pay] }, { text: "It is paid." }];
const shapes: Record<string, Shape> = {
  "only speaks": { script: [{ text: "One two three four.", delta_ms: 1 }], tools: [] },
  "thinks before it speaks": { script: [{ reasoning: "Hm, let me see.", text: "I see.", delta_ms: 1 }], tools: [] },
  "calls a tool that may be repeated": {
    script: paid,
    tools: [httpTool("pay", url, { idempotent: true })],
    repeats: true,
  },
  "asks when it does not know": { script: paid, tools: [httpTool("pay", url)] },
  "repeats when it does not know": {
    script: paid,
    tools: [httpTool("pay", url, { on_unknown: "retry" })],
    repeats: true,
  },
  "reports that it does not know": { script: paid, tools: [httpTool("pay", url, { on_unknown: "report" })] },
  "asks its client": {
    script: [{ text: "Wait.", tool_calls: [{ name: "look", arguments: {} }] }, { text: "So." }],
    tools: [tool("look")],
  },
  "asks a person first": { script: paid, tools: [httpTool("pay", url, { approval: "always" })] },
  "is guarded at every point": {
    script: [
      {
        reasoning: "Hm, my tuna.",
        text: "I buy tuna and more tuna. ",
        tool_calls: [pay, { name: "look", arguments: { at: "tuna" } }],
      },
      { text: "It is tuna.", delta_ms: 1 },
    ],
    tools: [httpTool("pay", url, { idempotent: true }), tool("look")],
    repeats: true,
    guardrails: [
      {
        type: "llm_judge",
        on: ["input", "output", "tool_output"],
        action: "block",
        config: { prompt: "x", model: "test/judge" },
      },
      { type: "blocked_terms", on: ["output", "tool_call"], action: "redact", config: { terms: ["tuna"] } },
      { type: "blocked_terms", on: ["input", "tool_output"], action: "redact", config: { terms: ["hello", "answer"] } },
    ],
  },
  "has its conversation summarised": {
    script: talkative,
    tools: [httpTool("pay", url, { idempotent: true })],
    repeats: true,
    context: { window: 900, strategy: "compact" },
  },
  "leaves out the oldest of its conversation": {
    script: talkative,
    tools: [httpTool("pay", url, { idempotent: true })],
    repeats: true,
    context: { window: 900, strategy: "truncate" },
  },
  "remembers, and writes down what it has learnt": {
    script: [
      { text: "I note that. ", tool_calls: [{ name: "memory_write", arguments: { text: "He pays 3." } }] },
      { text: "Noted." },
    ],
    tools: memoryTools([notes]),
    repeats: true,
    stores: [notes],
    prompt: ["> Search"],
  },
  "has its thread, its files and its memory before it": {
    script: paid,
    tools: [httpTool("pay", url, { idempotent: true })],
    repeats: true,
    stores: [notes],
    run: { thread_id: newId("thread"), file_ids: [newId("file")] },
    prompt: ["History", "Document", "> Search"],
  },
  "searches for its tools": {
    script: [
      { text: "Which? ", tool_calls: [{ name: "search_tools", arguments: { query: "pay a bill" } }] },
      { text: "I shall pay. ", tool_calls: [pay, { name: "search_tools", arguments: { query: "select:safe" } }] },
      { text: "It is paid." },
    ],
    tools: withToolSearch(
      { tools: [httpTool("pay", url, { idempotent: true }), tool("safe")] } as AgentSnapshot,
      "deferred",
    ).tools,
    repeats: true,
  },
  "has variables and snippets": {
    script: paid,
    tools: [httpTool("pay", url, { idempotent: true, description: "Pays for {{customer}}." })],
    repeats: true,
    texts: {
      instructions: "{{> greeting}} Pay at most {{most}}.",
      variables: [
        { name: "customer", type: "string", required: true },
        { name: "most", type: "integer", default: 5 },
      ],
      snippets: [{ name: "greeting", version: 2, text: "Serve {{customer}}." }],
    },
    run: { variables: { customer: "{{most}}" } },
    prompt: ["Serve {{most}}. Pay at most 5."],
  },
  "hands over, and back": {
    script: [
      {
        text: "One moment. ",
        tool_calls: [
          { name: "transfer_to_refunds", arguments: { reason: "Money." } },
          { name: "look", arguments: {} },
          { name: "transfer_to_refunds", arguments: {} },
        ],
      },
      { text: "All is well.", delta_ms: 1 },
    ],
    tools: [tool("look"), handoffTool("agt_refunds")],
    team: [
      teamMember(
        "agt_refunds",
        [{ text: "I pay. ", tool_calls: [pay] }, { tool_calls: [{ name: "transfer_to_fixture", arguments: {} }] }],
        { tools: [httpTool("pay", url, { idempotent: true }), handoffTool("agt_fixture", "no_tool_calls")] },
      ),
    ],
    repeats: true,
    stores: [notes],
    run: { thread_id: newId("thread") },
    prompt: ["History", "Hello"],
  },
  "does everything at once": {
    script: [
      {
        reasoning: "All of it.",
        text: "Now then: ",
        tool_calls: [
          pay,
          { name: "safe", arguments: {} },
          { name: "look", arguments: {} },
          { name: "none", arguments: {} },
        ],
        delta_ms: 1,
      },
      { text: "Once more. ", tool_calls: [pay] },
      { text: "All is done." },
    ],
    tools: [httpTool("pay", url), httpTool("safe", url, { idempotent: true }), tool("look")],
  },
};

interface Cut {
  seq: number;
  db: Db;
}

/** Runs to the end and copies the database after every commit, and whenever a request has arrived. */
async function live(shape: Shape) {
  const { script, tools, guardrails, context } = shape;
  using fixture = runFixture({ window: context?.window, answer: remember });
  const cuts: Cut[] = [];
  let id = "";
  const cut = () => cuts.push({ seq: fixture.journal.head(id)!.seq, db: copyDatabase(fixture.db) });
  fixture.watches.listen((runId) => {
    id = runId;
    cut();
  });
  arrived = cut;
  const agent = {
    guardrails,
    memory: memoryOf(shape),
    ...shape.texts,
    ...(shape.team && { team: shape.team }),
  };
  const run = await fixture.start(script, { tools, agent, run: shape.run });
  const stream = fixture.stream(run.id);
  const ended = await toTheEnd(fixture, run.id);
  arrived = () => {};
  return { id, cuts, ended, entries: fixture.journal.read(id), frames: await stream, requests: requests.splice(0) };
}

/** Compaction notes of a run. */
const compactions = (entries: readonly JournalEntry[]) =>
  entries.flatMap(({ event }) =>
    event.type === "context.compacted" ? [[event.strategy, event.left_out, event.summary, event.tokens_after]] : [],
  );

const ends = ["run.completed", "run.failed", "run.cancelled"];

function expectWhole(entries: JournalEntry[]): void {
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
  expect(entries.filter(({ event }) => ends.includes(event.type))).toHaveLength(1);
  expect(ends).toContain(entries.at(-1)!.event.type);
  const closed = new Set<number>();
  for (const { event } of entries) {
    if (event.type === "step.started" || event.type === "step.restarted")
      expect(closed).not.toContain(event.step_index);
    if (event.type !== "step.completed") continue;
    expect(closed).not.toContain(event.step_index);
    closed.add(event.step_index);
  }
  const results = entries.flatMap(({ event }) => (event.type === "tool.completed" ? [event.tool_call_id] : []));
  expect(new Set(results).size).toBe(results.length);
}

/** A step that was interrupted is recorded as restarted. */
function expectRestarted({ open }: RunState, after: JournalEntry[]): void {
  const begun = open.filter(({ step_type }) => !["tool_call", "subagent", "handoff"].includes(step_type));
  const again = after.flatMap(({ event }) => (event.type === "step.restarted" ? [event.step_index] : []));
  expect(again).toEqual(expect.arrayContaining(begun.map(({ step_index }) => step_index)));
}

/** No judge ran twice, no number was used twice, and no guarded text was stored. */
function expectGuarded(entries: JournalEntry[]): void {
  const decided = entries.flatMap(({ event }) => (event.type === "guardrail.decided" ? [event] : []));
  const inputs = decided.filter(({ guardrail }) => guardrail.on === "input" && guardrail.type === "llm_judge");
  expect(inputs).toHaveLength(1);
  const steps = entries.flatMap(({ event }) =>
    event.type === "step.started" || event.type === "guardrail.decided" ? [event.step_index] : [],
  );
  expect(new Set(steps).size).toBe(steps.length);
  expect(JSON.stringify(entries)).not.toMatch(/tuna|Hello|answer to/);
}

/** Documents and passages are fetched once for the record and each agent, and every prompt matches the record. */
function expectPrompts(entries: JournalEntry[], agent: AgentSnapshot, words: readonly string[]): void {
  const times = (type: string) => entries.filter(({ event }) => event.type === type).length;
  for (const type of ["history.loaded", "documents.attached"]) expect(times(type)).toBeLessThanOrEqual(1);
  expect(times("memory.retrieved")).toBeLessThanOrEqual(1 + times("handoff.completed"));
  for (const [index, { event }] of entries.entries()) {
    if (event.type !== "step.started" || event.step_type !== "model_call") continue;
    const request = modelRequest(fold(entries.slice(0, index)), agent);
    for (const word of words) expect(JSON.stringify(request.messages)).toContain(word);
    expect(event.input_hash).toBe(hashJson(request));
  }
}

const recordedText = (state: RunState): string =>
  state.messages
    .flatMap((message) => (message.role === "assistant" ? message.parts : []))
    .map((part) => (part.type === "text" ? part.text : ""))
    .join("");

/** A reader that resumes from any position of the old stream ends up with the record. */
async function expectJoins(fixture: Fixture, id: string, given: StreamFrame[], entries: JournalEntry[]): Promise<void> {
  const text = recordedText(fold(entries));
  for (let count = 0; count <= given.length; count++) {
    const seen = given.slice(0, count);
    const rest = await fixture.stream(id, parseCursor(seen.at(-1)?.id ?? null, "after"));
    const all = [...seen, ...rest];
    expect(textOfFrames(all)).toBe(text);
    const journaled = all.filter(({ event }) => event !== "token").map((frame) => Number(frame.id));
    expect(journaled).toEqual(entries.map(({ seq }) => seq));
  }
}

/** Calls in flight when the process died: they may or may not have arrived. A handoff is sent nowhere. */
const inFlight = ({ calls }: RunState) =>
  calls.filter(({ needs, status, type }) => needs === null && status === "running" && type !== "handoff");

for (const [name, shape] of Object.entries(shapes))
  test(`a run that ${name} survives the death of its process after any commit, and in the middle of any request`, async () => {
    const original = await live(shape);
    const { id, cuts, frames } = original;
    expect(original.ended.status).toBe("completed");
    if (shape.context) expect(compactions(original.entries).length).toBeGreaterThan(0);
    expect(cuts.length).toBeGreaterThanOrEqual(2); // Steps without I/O share the commit of the step before.
    for (const { seq, db } of cuts) {
      requests = [];
      using fixture = runFixture({ db, answer: remember });
      const before = fixture.journal.read(id);
      const died = fold(before);
      expect(await fixture.service.recover()).toBe(died.status === "in_progress" ? 1 : 0);
      const run = await toTheEnd(fixture, id);
      const entries = fixture.journal.read(id);
      expect(run.status).toBe("completed");
      expect(run.output).toBe(original.ended.output);
      expect(entries.slice(0, before.length)).toEqual(before);
      expectWhole(entries);
      expectRestarted(died, entries.slice(before.length));
      if (shape.guardrails) expectGuarded(entries);
      expectPrompts(entries, fixture.journal.snapshot(fixture.scope, fold(entries).run.agent_hash), shape.prompt ?? []);
      if (shape.context) expect(compactions(entries)).toEqual(compactions(original.entries));
      const recoveries = entries.filter(({ event }) => event.type === "run.recovered").length;
      expect(recoveries).toBe(died.status === "in_progress" ? 1 : 0);
      expect(run.attempt).toBe(1 + recoveries);

      for (const { key, run: runId, call } of requests) {
        expect([runId, call]).toEqual([id, key]);
        expect(run.tool_calls.map((one) => one.id)).toContain(key);
      }
      const done = died.calls.filter(({ completed_at }) => completed_at !== null).map((call) => call.id);
      expect(requests.filter(({ key }) => done.includes(key))).toEqual([]);
      const unsure = inFlight(died);
      for (const call of run.tool_calls.filter(({ type }) => type !== "tool_search")) {
        const now = requests.filter(({ key }) => key === call.id).length;
        const then = unsure.some((one) => one.id === call.id) ? 1 : 0;
        const repeatable = shape.repeats || call.name === "safe";
        if (!repeatable) expect(now + then).toBeLessThanOrEqual(1);
        else if (then) expect(now).toBe(1);
      }
      for (const { id: callId, tool: called } of unsure) {
        if (shape.repeats || called === "safe") continue;
        const after = run.tool_calls.find((one) => one.id === callId)!;
        if (shape.tools[0]!.on_unknown === "report")
          expect(after).toMatchObject({ status: "unknown", output: null, error: { code: "outcome_unknown" } });
        else expect(after).toMatchObject({ status: "completed", output: "answer to reconcile" });
      }
      await expectJoins(
        fixture,
        id,
        frames.filter((frame) => Number.parseInt(frame.id, 10) <= seq),
        entries,
      );
    }
  });

test("a run that crashes again and again after every commit of its recovery still loses and repeats nothing", async () => {
  const first = await live(shapes["asks when it does not know"]!);
  for (const { db } of first.cuts) {
    const second: Db[] = [];
    {
      using fixture = runFixture({ db: copyDatabase(db) });
      fixture.watches.listen(() => second.push(copyDatabase(fixture.db)));
      await fixture.service.recover();
      await toTheEnd(fixture, first.id);
    }
    for (const again of second) {
      requests = [];
      using fixture = runFixture({ db: again });
      const died = fold(fixture.journal.read(first.id));
      await fixture.service.recover();
      const run = await toTheEnd(fixture, first.id);
      expect(run.status).toBe("completed");
      expectWhole(fixture.journal.read(first.id));
      expect(requests.length + inFlight(died).length).toBeLessThanOrEqual(1);
    }
    db.close();
  }
});

test("a client that received text of a crashed model call is told to discard it, also if the run is cancelled at once", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "word ".repeat(200), delta_ms: 1 }]);
  const seen = await fixture.stream(id, undefined, ({ event }) => event === "token");
  using next = runFixture({ db: copyDatabase(fixture.db) });
  await next.service.recover();
  await next.service.cancel(next.scope, id, null);
  const rest = await next.stream(id, parseCursor(seen.at(-1)!.id, "after"));
  expect(textOfFrames(seen)).not.toBe("");
  expect(textOfFrames([...seen, ...rest])).toBe(recordedText(fold(next.journal.read(id))));
  expect(isOver(next.journal.head(id)!.status)).toBe(true);
});
