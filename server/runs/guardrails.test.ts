import { afterAll, describe, expect, test } from "bun:test";
import type { Guardrail, GuardrailAction, GuardrailPoint, ToolSnapshot } from "../domain/agent-snapshot.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { traceOf } from "../domain/trace.ts";
import { agentTool, httpTool, runFixture, textOfFrames, tool } from "../testing/run-fixture.ts";

// A secret that must not reach any reader, journal or model.
const word = "swordfish";
const terms = (action: GuardrailAction, ...on: GuardrailPoint[]): Guardrail => ({
  type: "blocked_terms",
  on,
  action,
  config: { terms: [word] },
});
const judge = (action: GuardrailAction, on: GuardrailPoint): Guardrail => ({
  type: "llm_judge",
  on: [on],
  action,
  config: { prompt: "No forbidden words.", model: "test/judge" },
});

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => Response.json({ answer: `It is ${word}.`, plain: "forbidden" }),
});
afterAll(() => server.stop(true));
const ask = httpTool("ask", `http://127.0.0.1:${server.port}/`, { idempotent: true });

type Fixture = ReturnType<typeof runFixture>;
interface Told {
  script: ScriptEntry[];
  guardrails: Guardrail[];
  input?: string;
  tools?: ToolSnapshot[];
}

const start = (fixture: Fixture, { script, guardrails, input = "Hello", tools = [] }: Told) =>
  fixture.start(script, { tools, agent: { guardrails }, run: { input } });

/** Everything stored for the run except the agent, whose script contains the secret. */
function written({ db }: Fixture): string {
  const tables = ["runs", "run_events", "pending_calls", "usage_days", "usage_durations"];
  return JSON.stringify(tables.flatMap((table) => db.sqlite.query(`SELECT * FROM ${table}`).all()));
}

async function live(fixture: Fixture, told: Told) {
  const { id } = await start(fixture, told);
  const frames = await fixture.stream(id, undefined, ({ event }) => event === "run.requires_action");
  const run = await fixture.settled(id);
  const entries = fixture.journal.read(id);
  const decided = entries.flatMap(({ event }) => (event.type === "guardrail.decided" ? [event] : []));
  return { id, run, frames, entries, decided, types: entries.map(({ event }) => event.type), trace: traceOf(entries) };
}

const blockedBy = (type: string, on: string, index = 0) => ({
  status: "failed",
  error: { code: "guardrail_blocked", guardrail: { index, type, on } },
});

describe("a guardrail on the input", () => {
  test("that blocks ends the run before any model call, and masks the match", async () => {
    using fixture = runFixture();
    const { run, types, trace } = await live(fixture, {
      script: [{ text: "Never." }],
      guardrails: [terms("block", "input")],
      input: `Say ${word} now`,
    });
    expect(run).toMatchObject({ ...blockedBy("blocked_terms", "input"), input: "Say [removed] now" });
    expect(run.usage.model_calls).toBe(0);
    expect(types).toEqual(["run.created", "guardrail.decided", "run.failed"]);
    expect(trace.steps).toMatchObject([{ type: "guardrail", status: "failed" }]);
    expect(written(fixture)).not.toContain(word);
  });

  test("that redacts leaves the rest for the model to read", async () => {
    using fixture = runFixture();
    const { run, decided } = await live(fixture, {
      script: [{ text: "Yes." }],
      guardrails: [terms("redact", "input")],
      input: `Say ${word} now`,
    });
    expect(run).toMatchObject({ status: "completed", input: "Say [removed] now", output: "Yes." });
    expect(decided).toMatchObject([{ verdict: "redacted", matches: 1, step_index: 0 }]);
    expect(written(fixture)).not.toContain(word);
  });

  test("that flags changes nothing and is reported", async () => {
    using fixture = runFixture();
    const { run, frames } = await live(fixture, {
      script: [{ text: "Yes." }],
      guardrails: [terms("flag", "input")],
      input: word,
    });
    expect(run).toMatchObject({ status: "completed", input: word });
    expect(frames[1]).toMatchObject({ event: "guardrail.triggered", data: { verdict: "flagged" } });
  });

  test("applies to a queued run, and a blocked one does not queue", async () => {
    using fixture = runFixture({ slots: 1 });
    const endless = await fixture.start([{ delay_ms: 3_600_000 }]);
    const agent = {
      guardrails: [terms("block", "input"), { ...terms("redact", "input"), config: { terms: ["cat"] } }],
    };
    const run = { on_concurrency_limit: "queue" as const };
    const waits = await fixture.start([{ text: "Yes." }], { agent, run: { ...run, input: "A cat." } });
    expect(waits).toMatchObject({ status: "queued", input: "A [removed]." });
    expect(await fixture.start([], { agent, run: { ...run, input: word } })).toMatchObject({ status: "failed" });
    await fixture.service.cancel(fixture.scope, endless.id, null);
    expect(await fixture.settled(waits.id)).toMatchObject({ status: "completed", output: "Yes." });
    expect(written(fixture)).not.toContain(word);
  });

  test("of a child run ends the child, and its parent reads why", async () => {
    using fixture = runFixture({ agents: { agt_child: { guardrails: [terms("block", "input")] } } });
    const asks = { name: "child", arguments: { input: `Tell me of ${word}` } };
    const { run } = await live(fixture, {
      script: [{ tool_calls: [asks] }, { text: "I see." }],
      guardrails: [],
      tools: [agentTool("child", "agt_child")],
    });
    expect(run).toMatchObject({ status: "completed", tool_calls: [{ status: "failed" }] });
    const child = fixture.runs.get(fixture.scope, run.tool_calls[0]!.subagent_run_id!);
    expect(child).toMatchObject({ ...blockedBy("blocked_terms", "input"), input: "Tell me of [removed]" });
  });

  test("that is a judge runs first, is counted, and does not run again", async () => {
    using fixture = runFixture();
    const guardrails = [judge("block", "input")];
    const good = await live(fixture, { script: [{ text: "Yes." }], guardrails });
    expect(good.types.slice(0, 3)).toEqual(["run.created", "guardrail.decided", "step.started"]);
    expect(good.decided).toMatchObject([{ verdict: "passed", matches: 0 }]);
    expect(good.decided[0]!.spent!.usage.input_tokens).toBeGreaterThan(0);
    expect(good.run).toMatchObject({ status: "completed", usage: { model_calls: 2 } });
    const bad = await live(fixture, { script: [{ text: "Never." }], guardrails, input: "A forbidden text" });
    expect(bad.run).toMatchObject(blockedBy("llm_judge", "input"));
    expect(bad.types).toEqual(["run.created", "guardrail.decided", "run.failed"]);
  });
});

describe("a guardrail on the output", () => {
  const text = `One two ${word} three ${word}s four.`;

  test("that redacts applies to the stream, the record and the resumed stream alike", async () => {
    using fixture = runFixture();
    const script = [{ reasoning: `Hm, ${word}? No.`, text, delta_ms: 1 }];
    const { id, run, frames, decided } = await live(fixture, { script, guardrails: [terms("redact", "output")] });
    expect(run).toMatchObject({ status: "completed", output: "One two [removed] three [removed]s four." });
    expect(textOfFrames(frames)).toBe(run.output!);
    expect(textOfFrames(await fixture.stream(id))).toBe(run.output!);
    expect(decided).toMatchObject([{ verdict: "redacted", matches: 3 }]);
    expect(JSON.stringify(frames) + written(fixture)).not.toContain(word);
  });

  test("that blocks stops the model at once, and none of its calls is executed", async () => {
    using fixture = runFixture();
    const script = [{ text, tool_calls: [{ name: "look", arguments: {} }], delta_ms: 1 }];
    const told = { script, guardrails: [terms("block", "output")], tools: [tool("look")] };
    const { run, frames, types, trace } = await live(fixture, told);
    expect(run).toMatchObject({ ...blockedBy("blocked_terms", "output"), output: "One two ", tool_calls: [] });
    expect(textOfFrames(frames)).toBe("One two ");
    expect(types.slice(-3)).toEqual(["step.completed", "guardrail.decided", "run.failed"]);
    expect(trace.steps.map(({ type, status }) => [type, status])).toEqual([
      ["model_call", "failed"],
      ["guardrail", "failed"],
    ]);
    expect(JSON.stringify(frames) + written(fixture)).not.toContain(word);
  });

  test("that blocks by shape or by a judge releases nothing before the end", async () => {
    using fixture = runFixture();
    const schema: Guardrail = {
      type: "json_schema",
      on: ["output"],
      action: "block",
      config: { schema: { type: "object" } },
    };
    for (const [guardrail, said] of [
      [schema, "No object."],
      [judge("block", "output"), "A forbidden thing."],
    ] as const) {
      const { run, frames } = await live(fixture, { script: [{ text: said }], guardrails: [guardrail] });
      expect(run).toMatchObject({ ...blockedBy(guardrail.type, "output"), output: null });
      expect(textOfFrames(frames)).toBe("");
      expect(JSON.stringify(frames) + written(fixture)).not.toContain(said);
    }
    const look = { tool_calls: [{ name: "look", arguments: {} }] };
    const fits = await live(fixture, { script: [look, { text: "{}" }], guardrails: [schema], tools: [tool("look")] });
    expect(fits.run.status).toBe("requires_action");
    const judged = await live(fixture, { script: [{ text: "Fine." }], guardrails: [judge("block", "output")] });
    expect(judged.run).toMatchObject({ status: "completed", output: "Fine.", usage: { model_calls: 2 } });
    expect(textOfFrames(judged.frames)).toBe("Fine.");
  });

  test("whose judge is unavailable blocks, or flags", async () => {
    using fixture = runFixture();
    const away = (action: GuardrailAction): Guardrail => ({
      ...judge(action, "output"),
      config: { prompt: "x", model: "openai/gpt-5" },
    });
    const blocked = await live(fixture, { script: [{ text: "Fine." }], guardrails: [away("block")] });
    expect(blocked.run).toMatchObject(blockedBy("llm_judge", "output"));
    const flagged = await live(fixture, { script: [{ text: "Fine." }], guardrails: [away("flag")] });
    expect(flagged).toMatchObject({ run: { status: "completed" }, decided: [{ verdict: "flagged" }] });
  });

  test("withholds the unreleased text of a cancelled run", async () => {
    using fixture = runFixture();
    const guardrails = [terms("redact", "output")];
    const { id } = await start(fixture, {
      script: [{ text: `Begin. sword${"fish ".repeat(300)}`, delta_ms: 2 }],
      guardrails,
    });
    await fixture.stream(id, undefined, ({ event }) => event === "token");
    await fixture.service.cancel(fixture.scope, id, null);
    const run = await fixture.settled(id);
    expect(run.status).toBe("cancelled");
    expect(textOfFrames(await fixture.stream(id))).toBe(run.output!);
    expect(written(fixture)).not.toContain(word);
  });
});

describe("a guardrail on tool calls", () => {
  const calls = (args: Record<string, unknown>): ScriptEntry[] => [
    { tool_calls: [{ name: "look", arguments: args }] },
    { text: "So." },
  ];
  const look = tool("look");
  const tools = [look];

  test("redacts arguments before they are stored", async () => {
    using fixture = runFixture();
    const told = { script: calls({ q: `a ${word}`, [word]: 1 }), guardrails: [terms("redact", "tool_call")], tools };
    const { run, decided } = await live(fixture, told);
    expect(run).toMatchObject({
      status: "requires_action",
      tool_calls: [{ arguments: { q: "a [removed]", "[removed]": 1 } }],
    });
    expect(decided).toMatchObject([{ verdict: "redacted", tool_call_id: run.tool_calls[0]!.id }]);
    expect(written(fixture)).not.toContain(word);
  });

  test("blocks the call and the run", async () => {
    using fixture = runFixture();
    const { run } = await live(fixture, {
      script: calls({ q: word }),
      guardrails: [terms("block", "tool_call")],
      tools,
    });
    expect(run).toMatchObject({
      ...blockedBy("blocked_terms", "tool_call"),
      tool_calls: [{ status: "failed", arguments: {} }],
    });
    expect(written(fixture)).not.toContain(word);
    const allowed: Guardrail = {
      type: "tool_allowlist",
      on: ["tool_call"],
      action: "block",
      config: { tools: ["other"] },
    };
    const other = await live(fixture, { script: calls({}), guardrails: [allowed], tools });
    expect(other.run).toMatchObject(blockedBy("tool_allowlist", "tool_call"));
    const judged = await live(fixture, {
      script: calls({ q: "forbidden" }),
      guardrails: [judge("block", "tool_call")],
      tools,
    });
    expect(judged.run).toMatchObject(blockedBy("llm_judge", "tool_call"));
  });

  test("checks the name of an unknown tool", async () => {
    using fixture = runFixture();
    const script = [{ tool_calls: [{ name: `say_${word}`, arguments: {} }] }, { text: "So." }];
    const redacted = await live(fixture, { script, guardrails: [terms("redact", "tool_call")], tools });
    expect(redacted.run).toMatchObject({
      status: "completed",
      tool_calls: [{ name: "unknown_tool", status: "failed" }],
    });
    const blocked = await live(fixture, { script, guardrails: [terms("block", "tool_call")], tools });
    expect(blocked.run).toMatchObject(blockedBy("blocked_terms", "tool_call"));
    expect(JSON.stringify([redacted.frames, blocked.frames])).not.toContain(word);
    expect(written(fixture)).not.toContain(word);
  });

  test("requires approval, and checks the person's edits too", async () => {
    using fixture = runFixture();
    const guardrails = [
      terms("require_approval", "tool_call"),
      { ...terms("block", "tool_call"), config: { terms: ["cat"] } },
    ];
    const { id, run, decided } = await live(fixture, { script: calls({ q: word }), guardrails, tools });
    expect(decided).toMatchObject([{ verdict: "approval_required" }]);
    const [call] = run.required_action!.submit_tool_outputs.tool_calls;
    expect(call).toMatchObject({ needs: "approval" });
    const approve = { tool_call_id: call!.tool_call_id, decision: "approve" as const };
    const cat = fixture.service.submit(fixture.author, id, [{ ...approve, arguments: { q: "cat" } }]);
    expect(await cat.catch(({ code, param }) => ({ code, param }))).toEqual({
      code: "validation_failed",
      param: "tool_outputs[0].arguments",
    });
    await fixture.service.submit(fixture.author, id, [{ ...approve, arguments: { q: "dog" } }]);
    expect(fixture.runs.get(fixture.scope, id).tool_calls).toMatchObject([
      { status: "awaiting_output", arguments: { q: "dog" } },
    ]);
  });
});

describe("a guardrail on tool outputs", () => {
  const script: ScriptEntry[] = [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "So." }];

  test("redacts or blocks the output of a server tool", async () => {
    using fixture = runFixture();
    const redacted = await live(fixture, { script, guardrails: [terms("redact", "tool_output")], tools: [ask] });
    expect(redacted.run).toMatchObject({
      status: "completed",
      tool_calls: [{ output: { answer: "It is [removed]." } }],
    });
    const blocked = await live(fixture, { script, guardrails: [terms("block", "tool_output")], tools: [ask] });
    expect(blocked.run).toMatchObject({ ...blockedBy("blocked_terms", "tool_output"), tool_calls: [{ output: null }] });
    const judged = await live(fixture, { script, guardrails: [judge("block", "tool_output")], tools: [ask] });
    expect(judged.run).toMatchObject({ ...blockedBy("llm_judge", "tool_output"), tool_calls: [{ output: null }] });
    expect(blocked.trace.steps.at(-1)).toMatchObject({ type: "guardrail", status: "failed" });
    expect(JSON.stringify([redacted.frames, blocked.frames])).not.toContain(word);
    expect(written(fixture)).not.toContain(word);
  });

  test("gives different step numbers to calls that end at the same time", async () => {
    using fixture = runFixture();
    const twice = [{ tool_calls: [script[0]!.tool_calls![0]!, script[0]!.tool_calls![0]!] }, { text: "So." }];
    const { decided, run } = await live(fixture, {
      script: twice,
      guardrails: [terms("redact", "tool_output")],
      tools: [ask],
    });
    expect(run.status).toBe("completed");
    expect(new Set(decided.map(({ step_index }) => step_index)).size).toBe(2);
  });

  test("checks submitted outputs, and accepts a repeated output", async () => {
    using fixture = runFixture();
    const own = tool("ask");
    for (const action of ["redact", "block"] as const) {
      const { id, run } = await live(fixture, { script, guardrails: [terms(action, "tool_output")], tools: [own] });
      const answer = { tool_call_id: run.tool_calls[0]!.id, output: { said: word } };
      const entries = async () => {
        await fixture.service.submit(fixture.author, id, [answer]);
        return fixture.journal.head(id)!.seq;
      };
      await entries();
      const ended = await fixture.settled(id);
      expect(await entries()).toBe(fixture.journal.head(id)!.seq);
      if (action === "redact")
        expect(ended).toMatchObject({ status: "completed", tool_calls: [{ output: { said: "[removed]" } }] });
      else
        expect(ended).toMatchObject({ ...blockedBy("blocked_terms", "tool_output"), tool_calls: [{ output: null }] });
    }
    expect(written(fixture)).not.toContain(word);
  });

  test("checks the reason of a rejection", async () => {
    using fixture = runFixture();
    const own = tool("ask", { approval: "always" });
    for (const action of ["redact", "block"] as const) {
      const { id, run } = await live(fixture, { script, guardrails: [terms(action, "tool_output")], tools: [own] });
      const answer = { tool_call_id: run.tool_calls[0]!.id, decision: "reject" as const, reason: `It says ${word}.` };
      await fixture.service.submit(fixture.author, id, [answer]);
      await fixture.service.submit(fixture.author, id, [answer]);
      const message = "A person rejected this call. Reason: It says [removed].";
      expect(await fixture.settled(id)).toMatchObject(
        action === "redact"
          ? { status: "completed", tool_calls: [{ status: "rejected", error: { message } }] }
          : blockedBy("blocked_terms", "tool_output"),
      );
    }
    expect(written(fixture)).not.toContain(word);
  });

  test("judges a submitted output before the model reads it", async () => {
    using fixture = runFixture();
    const { id, run } = await live(fixture, {
      script,
      guardrails: [judge("block", "tool_output")],
      tools: [tool("ask")],
    });
    await fixture.service.submit(fixture.author, id, [{ tool_call_id: run.tool_calls[0]!.id, output: "forbidden" }]);
    expect(await fixture.settled(id)).toMatchObject({
      ...blockedBy("llm_judge", "tool_output"),
      usage: { model_calls: 2 },
    });
  });
});

test("a model call that fails for good keeps only the released text", async () => {
  using fixture = runFixture();
  const script = [{ text: `One ${word} sword`, error: "It broke." }];
  const { run, frames } = await live(fixture, { script, guardrails: [terms("redact", "output")] });
  expect(run).toMatchObject({ status: "failed", error: { code: "model_error" }, output: "One [removed] " });
  expect(textOfFrames(frames)).toBe(run.output!);
  expect(written(fixture)).not.toContain(word);
});
