import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

// A tool with a cost per call: calls in a record must not be repeated.
const calls: { body: { amount: number }; key: string }[] = [];
const shop = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const body = (await request.json()) as { amount: number };
    calls.push({ body, key: request.headers.get("idempotency-key")! });
    return Response.json({ receipt: calls.length, amount: body.amount });
  },
});
afterAll(() => shop.stop(true));
beforeEach(() => {
  calls.length = 0;
});

const amounts = () => calls.map(({ body }) => body.amount);
const pay = (...each: number[]): ScriptEntry => ({
  tool_calls: each.map((amount) => ({ name: "pay", arguments: { amount } })),
});
const parameters = { type: "object", properties: { amount: { type: "number" } } };

interface Made {
  agent: string;
  run: Answer["body"];
}

/** Creates an agent with a scripted model, and runs it until it is over or waits. */
async function make(client: Client, script: ScriptEntry[], tool: object = {}, agent: object = {}): Promise<Made> {
  const url = `http://127.0.0.1:${shop.port}/`;
  const made = await client.post("/v1/tools", { name: "pay", url, parameters, ...tool });
  const { body } = await client.post("/v1/agents", {
    name: "a",
    instructions: "Pay.",
    model: "test/script",
    model_settings: { script },
    tools: [made.body.id],
    ...agent,
  });
  expect(body.error ?? null).toBeNull();
  return { agent: body.id, run: await started(client, body.id) };
}

const started = async (client: Client, agent_id: string, more: object = {}) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go", ...more })).body;
const fork = (client: Client, run: { id: string }, body: object) =>
  client.post(`/v1/runs/${run.id}/fork?wait=60`, body);
const forked = async (client: Client, run: { id: string }, body: object): Promise<Answer["body"]> => {
  const answer = await fork(client, run, body);
  expect({ status: answer.status, error: answer.body.error?.code }).toEqual({
    status: 201,
    error: answer.body.error?.code,
  });
  return answer.body;
};
const stepsOf = async (client: Client, { id }: { id: string }) =>
  (await client.get(`/v1/traces/${id}`)).body.steps as Answer["body"][];
/** Resolves when the run is over. */
const ended = (server: TestApp, client: Client, { id }: { id: string }) =>
  server.send("GET", `/v1/runs/${id}/events`, undefined, {
    authorization: `Bearer ${client.key.secret}`,
    accept: "text/event-stream",
  });
const resultsOf = (run: Answer["body"]) => run.tool_calls.map(({ output }: Answer["body"]) => output);

const endless: ScriptEntry = { delay_ms: 600_000 };
const paidTwice = [pay(5), pay(7), { text: "Paid." }];

async function withServer(work: (client: Client, server: TestApp) => Promise<void>, options = {}): Promise<void> {
  await using server = testApp(options);
  await work(await server.client(), server);
}

describe("a fork", () => {
  test("has the work up to its step, does the rest, and pays only for the rest", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      expect(amounts()).toEqual([5, 7]);
      const own = await forked(client, run, { step_index: 1 });
      expect(own).toMatchObject({
        status: "completed",
        output: "Paid.",
        origin: "fork",
        thread_id: null,
        parent_run_id: null,
        forked_from: { run_id: run.id, step_index: 1 },
        input: "Go",
        agent_version: 1,
      });
      expect(amounts()).toEqual([5, 7, 7]);
      expect(resultsOf(own)).toEqual([resultsOf(run)[0], { receipt: 3, amount: 7 }]);
      expect(own.usage).toMatchObject({ model_calls: 2, tool_calls: 1 });
      expect(own.messages.map(({ role }: Answer["body"]) => role)).toEqual(
        run.messages.map(({ role }: Answer["body"]) => role),
      );
      const [first, second] = [await stepsOf(client, run), await stepsOf(client, own)];
      expect(second.map(({ type }) => type)).toEqual(first.map(({ type }) => type));
      expect(second[2].input_hash).toBe(first[2].input_hash);
    }));

  test("of a model call keeps the results of its calls", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const own = await forked(client, run, { step_index: 2 });
      expect(own).toMatchObject({ status: "completed", usage: { model_calls: 1, tool_calls: 0 } });
      expect(resultsOf(own)).toEqual(resultsOf(run));
      expect(amounts()).toEqual([5, 7]);
    }));

  test("at the last answer is over at once", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const own = await forked(client, run, { step_index: 4 });
      expect(own).toMatchObject({ status: "completed", output: "Paid.", usage: { model_calls: 0, cost_usd: 0 } });
    }));

  test("gives the model an edited output in place of the tool's", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const own = await forked(client, run, { step_index: 1, edits: { tool_output: { declined: true } } });
      expect(own.tool_calls[0]).toMatchObject({ status: "completed", output: { declined: true } });
      const [, , asked] = await stepsOf(client, own);
      expect(asked.input.messages.at(-1).content).toBe('{"declined":true}');
      const failed = await forked(client, run, { step_index: 1, edits: { tool_output: "No funds.", is_error: true } });
      expect(failed.tool_calls[0]).toMatchObject({ status: "failed", error: { message: "No funds." } });
    }));

  test("makes only those calls of an edited answer that have no result in the record", () =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(1, 2), { text: "Paid." }]);
      const tool_calls = [1, 3].map((amount) => ({ name: "pay", arguments: { amount } }));
      const own = await forked(client, run, { step_index: 0, edits: { model_output: { content: "So.", tool_calls } } });
      expect(amounts().sort()).toEqual([1, 2, 3]);
      expect(own.messages[1]).toMatchObject({ role: "assistant", content: "So." });
      expect(own.messages[1].tool_calls.map((call: Answer["body"]) => call.arguments.amount)).toEqual([1, 3]);
      const words = await forked(client, run, { step_index: 0, edits: { model_output: "Never mind." } });
      expect(words).toMatchObject({ status: "completed", output: "Never mind.", tool_calls: [] });
    }));

  test("from the start is a separate run with other instructions, model and input", () =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }]);
      const edits = { instructions: "Be kind.", model: "test/echo", input: "Hello" };
      const own = await forked(client, run, { step_index: -1, edits });
      expect(own).toMatchObject({ status: "completed", model: "test/echo", input: "Hello", output: "Hello" });
      expect(await stepsOf(client, own)).toHaveLength(1);
      expect(amounts()).toEqual([5]);
    }));

  test("of a fork continues from the fork", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const first = await forked(client, run, { step_index: 1, edits: { tool_output: "edited" } });
      const second = await forked(client, first, { step_index: 3 });
      expect(second.forked_from).toEqual({ run_id: first.id, step_index: 3 });
      expect(resultsOf(second)).toEqual(["edited", { receipt: 3, amount: 7 }]);
      expect(second.usage).toMatchObject({ model_calls: 1, tool_calls: 0 });
    }));

  test("survives the deletion of its source", () =>
    withServer(async (client) => {
      const long = "x".repeat(20_000);
      const { run } = await make(client, [{ text: long, ...pay(5) }, { text: "Paid." }]);
      const own = await forked(client, run, { step_index: 1 });
      expect((await client.delete(`/v1/runs/${run.id}`)).status).toBe(200);
      expect((await client.get(`/v1/runs/${own.id}`)).body).toMatchObject({ status: "completed", output: "Paid." });
      expect((await stepsOf(client, own))[0].output.content).toBe(long);
      expect(await forked(client, own, { step_index: 1 })).toMatchObject({ status: "completed", output: "Paid." });
    }));

  test("with the current agent has its instructions and version", () =>
    withServer(async (client) => {
      const { run, agent } = await make(client, paidTwice);
      await client.patch(`/v1/agents/${agent}`, { model_settings: { script: [pay(5), { text: "Enough." }] } });
      const own = await forked(client, run, { step_index: 1, agent: "current" });
      expect(own).toMatchObject({ agent_version: 2, output: "Enough." });
      expect(await forked(client, run, { step_index: 1 })).toMatchObject({ agent_version: 1, output: "Paid." });
    }));

  test("is found by its origin and its source", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const own = await forked(client, run, { step_index: 1 });
      for (const query of ["origin=fork", `source_run_id=${run.id}`])
        expect((await client.get(`/v1/runs?${query}`)).body.data.map(({ id }: { id: string }) => id)).toEqual([own.id]);
    }));

  test("counts its own part in the usage of the day", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const totals = async () => (await client.get("/v1/usage")).body.totals;
      const before = await totals();
      await forked(client, run, { step_index: 3 });
      const after = await totals();
      expect(after.model_calls - before.model_calls).toBe(1);
      expect(after.tool_calls - before.tool_calls).toBe(0);
    }));
});

describe("calls of a fork after its step", () => {
  const both = [pay(5), pay(5), pay(9), { text: "Paid." }];

  test("use results of the record where it has them, and run otherwise", () =>
    withServer(async (client) => {
      const { run } = await make(client, both);
      const edits = {
        model_output: { tool_calls: [5, 5, 8].map((amount) => ({ name: "pay", arguments: { amount } })) },
      };
      calls.length = 0;
      const again = await forked(client, run, { step_index: -1, tools: "recorded_then_live" });
      expect(resultsOf(again)).toEqual(resultsOf(run));
      expect(amounts()).toEqual([]);
      expect(again.tool_calls[0]).toMatchObject({ attempts: 0, latency_ms: 0 });
      await forked(client, run, { step_index: 0, edits, tools: "recorded_then_live" });
      // The third call with 5: the record has two.
      expect(amounts()).toEqual([8, 5]);
    }));

  test("run for real by default", () =>
    withServer(async (client) => {
      const { run } = await make(client, both);
      calls.length = 0;
      await forked(client, run, { step_index: -1 });
      expect(amounts()).toEqual([5, 5, 9]);
    }));

  test("fail with an error that the model reads if only the record may be used and has no result", () =>
    withServer(async (client) => {
      const { run } = await make(client, both);
      const tool_calls = [5, 8].map((amount) => ({ name: "pay", arguments: { amount } }));
      calls.length = 0;
      const edits = { model_output: { tool_calls } };
      const own = await forked(client, run, { step_index: 0, edits, tools: "recorded_only" });
      expect(own.tool_calls.map(({ error }: Answer["body"]) => error?.code ?? null).slice(0, 2)).toEqual([
        null,
        "not_recorded",
      ]);
      expect(amounts()).toEqual([]);
    }));

  test("behave in a fork of such a fork as in the fork", () =>
    withServer(async (client) => {
      const { run } = await make(client, both);
      const first = await forked(client, run, { step_index: -1, tools: "recorded_only" });
      for (const step_index of [-1, 1, 3])
        expect(resultsOf(await forked(client, first, { step_index, tools: "recorded_only" }))).toEqual(resultsOf(run));
      expect(amounts()).toEqual([5, 5, 9]);
    }));

  test("ask for no output that is in the record or unavailable", () =>
    withServer(async (client, server) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }], { url: undefined, approval: "always" });
      const [call] = run.required_action.submit_tool_outputs.tool_calls;
      const answer = (more: object) =>
        client.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
          tool_outputs: [{ tool_call_id: call.tool_call_id, ...more }],
        });
      const nothing = await forked(client, run, { step_index: -1, tools: "recorded_only" });
      expect(nothing).toMatchObject({ status: "completed", tool_calls: [{ error: { code: "not_recorded" } }] });
      await answer({ decision: "approve" });
      await answer({ output: "By hand." });
      await ended(server, client, run);
      for (const tools of ["recorded_then_live", "recorded_only"])
        expect(await forked(client, run, { step_index: -1, tools })).toMatchObject({
          status: "completed",
          tool_calls: [{ status: "completed", output: "By hand." }],
        });
      expect(await forked(client, run, { step_index: -1 })).toMatchObject({ status: "requires_action" });
    }));
});

describe("an unfinished run", () => {
  test("that requires action is forked where it waits, and both wait separately", () =>
    withServer(async (client, server) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }], { approval: "always" });
      const own = await forked(client, run, { step_index: 0 });
      expect(own.status).toBe("requires_action");
      const ids = [run, own].map((each) => each.required_action.submit_tool_outputs.tool_calls[0].tool_call_id);
      expect(ids[0]).not.toBe(ids[1]);
      const tool_outputs = [{ tool_call_id: ids[1], decision: "approve" }];
      await client.post(`/v1/runs/${own.id}/submit_tool_outputs`, { tool_outputs });
      await ended(server, client, own);
      expect(amounts()).toEqual([5]);
      await forked(client, own, { step_index: -1, tools: "recorded_only" });
      expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
      expect((await fork(client, run, { step_index: 1 })).body.error).toMatchObject({ param: "step_index" });
    }));

  test("that was cancelled makes the calls that had no result", () =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }], { approval: "always" });
      await client.post(`/v1/runs/${run.id}/cancel`);
      expect(await forked(client, run, { step_index: 0 })).toMatchObject({ status: "requires_action" });
      const edits = { tool_output: 1 };
      expect(await forked(client, run, { step_index: 1, edits })).toMatchObject({
        status: "completed",
        output: "Paid.",
      });
      expect((await fork(client, run, { step_index: 1 })).body.error.message).toContain("was cancelled");
    }));

  test("that is working is forked at a finished step, and continues by itself", () =>
    withServer(async (client, server) => {
      const { agent } = await make(client, [pay(5), { text: "Paid." }]);
      await client.patch(`/v1/agents/${agent}`, { model_settings: { script: [pay(6), endless] } });
      const { body: run } = await client.post("/v1/runs", { agent_id: agent, input: "Go" });
      const watch = server.watches.join(run.id);
      while ((await stepsOf(client, run)).length < 3) await watch.next(10_000);
      watch.leave();
      expect((await fork(client, run, { step_index: 2 })).body.error.message).toContain("Step 2 has not ended.");
      const own = await forked(client, run, { step_index: 1, edits: { model: "test/echo" } });
      expect(own).toMatchObject({ status: "completed", model: "test/echo" });
      expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("in_progress");
      expect(amounts()).toEqual([5, 6]);
    }));

  test("whose model failed continues with an answer in its place, or with another model", () =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(5), { error: "It broke." }]);
      expect(run.status).toBe("failed");
      expect((await fork(client, run, { step_index: 2 })).body.error.message).toContain("did not complete");
      const edits = { model_output: "Done." };
      expect(await forked(client, run, { step_index: 2, edits })).toMatchObject({
        status: "completed",
        output: "Done.",
      });
      const other = await forked(client, run, { step_index: 1, edits: { model: "test/echo" } });
      expect(other).toMatchObject({ status: "completed", model: "test/echo" });
      expect(amounts()).toEqual([5]);
    }));
});

test("a fork may have several models, and a single one in their place", () =>
  withServer(async (client) => {
    const { run } = await make(client, [pay(5), { error: "It broke." }]);
    const models = ["test/echo", "test/script"];
    const own = await forked(client, run, { step_index: 1, edits: { models } });
    expect(own).toMatchObject({ status: "completed", model: "test/echo", models });
    const single = await forked(client, own, { step_index: 1, edits: { model: "test/echo" } });
    expect([single.model, single.models ?? null]).toEqual(["test/echo", null]);
    const kept = await forked(client, own, { step_index: 1 });
    expect(kept.models).toEqual(models);
  }));

describe("an invalid fork is rejected, and no run is created", () => {
  test("for an edit that no step follows, and the message names an earlier step", () =>
    withServer(async (client) => {
      const { run } = await make(client, [{ text: "Hello." }]);
      const edits = { instructions: "Be brief." };
      const { status, body } = await fork(client, run, { step_index: 0, edits });
      expect([status, body.error.message]).toEqual([400, expect.stringContaining("or -1 to start over")]);
      expect((await fork(client, run, { step_index: -1, edits })).status).toBe(201);
      expect((await fork(client, run, { step_index: 0, edits: { model_output: "Bye." } })).status).toBe(201);
    }));

  test("for an input that is too long", () =>
    withServer(async (client) => {
      const { run } = await make(client, [{ text: "Paid." }]);
      const { status, body } = await fork(client, run, { step_index: 0, edits: { input: "ä".repeat(200_000) } });
      expect({ status, param: body.error.param }).toEqual({ status: 413, param: "edits.input" });
    }));

  test.each([
    [{}, "step_index"],
    [{ step_index: -2 }, "step_index"],
    [{ step_index: 99 }, "step_index"],
    [{ step_index: 0, edits: { tool_output: 1 } }, "edits.tool_output"],
    [{ step_index: 1, edits: { model_output: "x" } }, "edits.model_output"],
    [{ step_index: -1, edits: { model_output: "x" } }, "edits.model_output"],
    [{ step_index: 0, edits: { is_error: true } }, "edits.is_error"],
    [{ step_index: 0, edits: { model: "nobody/none" } }, "edits.model"],
    [{ step_index: 0, edits: { models: ["test/echo", "nobody/none"] } }, "edits.models[1]"],
    [{ step_index: 0, edits: { models: ["test/echo"] } }, "edits.models"],
    [{ step_index: 0, edits: { model: "test/script", models: ["test/echo", "test/script"] } }, "edits.models"],
    [{ step_index: 0, edits: { color: "red" } }, "edits.color"],
    [{ step_index: 0, tools: "none" }, "tools"],
    // No step follows the last one, so the edit would have no effect.
    [{ step_index: 2, edits: { instructions: "Be brief." } }, "edits.instructions"],
    [{ step_index: 2, edits: { input: "Something else." } }, "edits.input"],
    [{ step_index: 2, edits: { model_output: "Yes.", model: "test/echo" } }, "edits.model"],
    [{ step_index: 2, edits: { models: ["test/echo", "test/script"] } }, "edits.models"],
  ])("%j", (body, param) =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }]);
      const { status, body: answer } = await fork(client, run, body);
      expect({ status, param: answer.error.param }).toEqual({ status: 400, param });
      expect((await client.get("/v1/runs?origin=fork")).body.data).toEqual([]);
    }),
  );

  test("if its trace was deleted, or its agent is not the key's", () =>
    withServer(async (client, server) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }]);
      const bound = await server.client({ scopes: ["run"], agent_ids: [newId("agent")] });
      expect((await fork(bound, run, { step_index: -1 })).status).toBe(404);
      await client.delete(`/v1/traces/${run.id}`);
      expect((await fork(client, run, { step_index: -1 })).status).toBe(404);
    }));

  test("if its record is damaged", () =>
    withServer(async (client, { db }) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }]);
      db.sqlite.run("UPDATE run_events SET data = '{' WHERE run_id = ? AND seq = 4", [run.id]);
      db.kept.forget();
      const { status, body } = await fork(client, run, { step_index: -1 });
      expect([status, body.error.code]).toEqual([409, "record_damaged"]);
    }));
});

describe("guardrails", () => {
  const terms = (action: string, on: string) => ({
    guardrails: [{ type: "blocked_terms", on: [on], action, config: { terms: ["swordfish"] } }],
  });
  const said = "It is swordfish.";

  test.each([
    ["input", -1, { input: said }, "edits.input"],
    ["tool_output", 1, { tool_output: { a: said } }, "edits.tool_output"],
    ["output", 0, { model_output: said }, "edits.model_output"],
    [
      "tool_call",
      0,
      { model_output: { tool_calls: [{ name: "pay", arguments: { amount: 1, a: said } }] } },
      "edits.model_output.tool_calls[0]",
    ],
  ])("check an edited %s: blocked text is rejected, and redacted text is removed", (on, step_index, edits, param) =>
    withServer(async (client, { db }) => {
      const blocking = await make(client, [pay(5), { text: "Paid." }], {}, terms("block", on));
      const refused = await fork(client, blocking.run, { step_index, edits });
      expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
      const other = await db.sqlite.query<{ id: string }, []>("SELECT id FROM tools").get();
      const { body } = await client.post("/v1/agents", {
        name: "b",
        instructions: "",
        model: "test/script",
        tools: [other!.id],
        ...terms("redact", on),
        model_settings: { script: [pay(5), { text: "Paid." }] },
      });
      const own = await forked(client, await started(client, body.id), { step_index, edits });
      const steps = await stepsOf(client, own);
      expect(JSON.stringify([own, steps])).not.toContain("swordfish");
      expect(steps).toContainEqual(
        expect.objectContaining({ type: "guardrail", output: expect.objectContaining({ verdict: "redacted" }) }),
      );
    }),
  );

  test("require approval of an edited call", () =>
    withServer(async (client) => {
      const { run } = await make(client, [pay(5), { text: "Paid." }], {}, terms("require_approval", "tool_call"));
      const tool_calls = [{ name: "pay", arguments: { amount: 1, a: said } }];
      const own = await forked(client, run, { step_index: 0, edits: { model_output: { tool_calls } } });
      expect(own).toMatchObject({ status: "requires_action", tool_calls: [{ status: "awaiting_approval" }] });
    }));

  test("check again the input taken from the record", () =>
    withServer(async (client) => {
      const { run, agent } = await make(client, [pay(5), { text: "Paid." }]);
      await client.patch(`/v1/agents/${agent}`, {
        guardrails: [{ type: "regex", on: ["tool_output"], action: "redact", config: { pattern: "receipt" } }],
      });
      const own = await forked(client, run, { step_index: -1, agent: "current", tools: "recorded_only" });
      expect(JSON.stringify(own.tool_calls[0].output)).not.toContain("receipt");
      expect(own.tool_calls[0].status).toBe("completed");
    }));
});

describe("creation rules", () => {
  test("refuse or queue a fork if too many runs are in progress", () =>
    withServer(async (client, server) => {
      const { run, agent } = await make(client, [pay(5), { text: "Paid." }]);
      await client.patch(`/v1/agents/${agent}`, { model_settings: { script: [{ text: "x", delay_ms: 600_000 }] } });
      await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 1 } });
      const busy = (await client.post("/v1/runs", { agent_id: agent, input: "Go" })).body;
      expect((await fork(client, run, { step_index: 1 })).body.error.code).toBe("concurrency_limit_exceeded");
      expect(await forked(client, run, { step_index: 2 })).toMatchObject({ status: "completed" });
      const queued = (await client.post(`/v1/runs/${run.id}/fork`, { step_index: 1, on_concurrency_limit: "queue" }))
        .body;
      expect(queued).toMatchObject({ status: "queued", queue_position: 1 });
      await client.post(`/v1/runs/${busy.id}/cancel`);
      const { body } = await ended(server, client, queued);
      expect(body).toContain('"status":"queued"');
      expect((await client.get(`/v1/runs/${queued.id}`)).body).toMatchObject({ status: "completed", output: "Paid." });
      expect(amounts()).toEqual([5]);
    }));

  test("create one fork for repeated requests with one key", () =>
    withServer(async (client, server) => {
      const { run } = await make(client, paidTwice);
      const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "once" };
      const ask = () => server.send("POST", `/v1/runs/${run.id}/fork?wait=60`, { step_index: 1 }, headers);
      const [first, second] = [await ask(), await ask()];
      expect(second.body.id).toBe(first.body.id);
      expect(second.headers.get("idempotent-replayed")).toBe("true");
      expect(amounts()).toEqual([5, 7, 7]);
    }));

  test("stream a fork from its first entry, with its record and its own events", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const { status, body, headers } = await client.post(`/v1/runs/${run.id}/fork`, { step_index: 1, stream: true });
      expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
      const events = [...String(body).matchAll(/^event: (.+)$/gm)].map(([, name]) => name);
      expect(events[0]).toBe("run.created");
      expect(events.at(-1)).toBe("run.completed");
      expect(events.filter((name) => name === "tool.completed")).toHaveLength(2);
    }));

  test("start a fork's time when it is created, however old its record is", async () => {
    let at = Date.parse("2026-01-01T00:00:00Z");
    await using server = testApp({ now: () => at });
    const client = await server.client();
    const { run } = await make(client, [pay(5), { text: "Paid." }], { approval: "always" });
    const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, decision: "approve" }];
    at += 3_600_000;
    await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
    await ended(server, client, run);
    at += 86_400_000;
    const own = await forked(client, run, { step_index: -1, timeout_ms: 5000, budget: { max_wall_ms: 4000 } });
    expect(own.created_at).toBe(new Date(at).toISOString());
    expect(own.expires_at).toBe(new Date(at + 4000).toISOString());
    const kept = await forked(client, run, { step_index: 1 });
    expect(kept).toMatchObject({ created_at: own.created_at, started_at: own.created_at });
    const [first, second] = await stepsOf(client, kept);
    expect(Date.parse(second.completed_at) - Date.parse(first.started_at)).toBe(3_600_000);
  });

  test("count a fork on the day of its creation, even if its record began on another", async () => {
    let at = Date.parse("2026-01-01T12:00:00Z");
    await using server = testApp({ now: () => at });
    const client = await server.client();
    const { run } = await make(client, [pay(5), { text: "Paid." }], { approval: "always" });
    const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, decision: "approve" }];
    at += 72_000_000;
    await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
    await ended(server, client, run);
    await forked(client, run, { step_index: 1 });
    const { data } = (await client.get("/v1/usage?group_by=day&from=2026-01-01&to=2026-01-03")).body;
    expect(data.map(({ day, runs }: Answer["body"]) => [day, runs.started])).toEqual([
      ["2026-01-01", 1],
      ["2026-01-02", 1],
    ]);
  });

  test("allow fifteen concurrent forks of one run, and the source is unchanged", () =>
    withServer(async (client) => {
      const { run } = await make(client, paidTwice);
      const before = (await client.get(`/v1/runs/${run.id}`)).body;
      const many = await Promise.all(Array.from({ length: 15 }, () => forked(client, run, { step_index: 3 })));
      expect(new Set(many.map(({ id }) => id)).size).toBe(15);
      for (const own of many) expect(own).toMatchObject({ status: "completed", output: "Paid." });
      const { request_id: _, ...after } = (await client.get(`/v1/runs/${run.id}`)).body;
      expect({ ...after, request_id: before.request_id }).toEqual(before);
      expect(amounts()).toEqual([5, 7]);
    }));
});

describe("child runs", () => {
  test("of copied calls stay the source's", () =>
    withServer(async (client) => {
      const helper = await client.post("/v1/agents", {
        name: "h",
        instructions: "",
        model: "test/script",
        model_settings: { script: [{ text: "Help." }] },
      });
      const script = [{ tool_calls: [{ name: "help", arguments: { input: "Now" } }] }, { text: "Done." }];
      const tool = { name: "help", type: "agent", agent_id: helper.body.id, url: undefined, parameters: undefined };
      const { run } = await make(client, script, tool);
      expect(run).toMatchObject({ status: "completed", tool_calls: [{ output: "Help." }] });
      const child = run.tool_calls[0].subagent_run_id;
      const own = await forked(client, run, { step_index: 1 });
      expect(own.tool_calls[0]).toMatchObject({ output: "Help.", subagent_run_id: child });
      const again = await forked(client, run, { step_index: -1, tools: "recorded_only" });
      expect(again.tool_calls[0]).toMatchObject({ status: "completed", output: "Help.", subagent_run_id: null });
      expect((await client.get("/v1/runs?limit=50")).body.data).toHaveLength(4);
      await client.delete(`/v1/runs/${own.id}`);
      expect((await client.get(`/v1/runs/${child}`)).status).toBe(200);
    }));
});

// Once, a run's page, its list entry and a comparison showed three different durations.
test("a run and the list show the same durations, and a fork shows its record's apart", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await make(client, [pay(1), { text: "Paid.", delta_ms: 5 }], { type: "client", url: undefined });
  expect(run.status).toBe("requires_action");
  const tool_outputs = [
    { tool_call_id: run.required_action.submit_tool_outputs.tool_calls[0].tool_call_id, output: "done" },
  ];
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs, stream: true });
  const over = (await client.get(`/v1/runs/${run.id}`)).body;
  const { timing, started_at, completed_at } = over;
  expect(timing).toMatchObject({ recorded_ms: 0, as_of: completed_at });
  expect(timing.worked_ms + timing.waited_ms).toBe(Date.parse(completed_at) - Date.parse(started_at));
  const child = await forked(client, run, { step_index: 1 });
  const latencies = (await stepsOf(client, child)).filter(({ replayed }) => replayed).map((step) => step.latency_ms);
  expect(child.timing.recorded_ms).toBe(latencies.reduce((sum, ms) => sum + ms, 0));
  const { data } = (await client.get("/v1/runs")).body;
  expect(data.map((each: Answer["body"]) => [each.id, each.timing])).toEqual([
    [child.id, child.timing],
    [run.id, timing],
  ]);
});
