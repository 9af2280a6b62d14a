import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { usesSpare } from "./cluster/through-a-spare.ts";
import { type EventStream, type Frame, seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";
import { waitUntil } from "./until.ts";

// Kills the process by RUNNEL_FAILPOINT at every boundary of a run, once each. `intent`, `effect` and `result` of a
// step have a failpoint before and one after. At a commit, `before` lies in the open transaction, and `after` behind
// the commit, before a client gets the response.

const tools = {
  /** Idempotent. */
  safe: { idempotent: true },
  /** Not idempotent: asks a person about an unknown outcome. */
  once: { idempotent: false },
  /** Not idempotent: reports the unknown outcome to the model. */
  report: { idempotent: false, on_unknown: "report" },
  /** Not idempotent, and retried because its owner says so. */
  retry: { idempotent: false, on_unknown: "retry" },
  /** Executed by the client. */
  client: {},
};
type Kind = keyof typeof tools;

interface Outcome {
  /** Number of model requests for the first turn and for the second one. */
  asked: [number, number];
  /** Number of tool calls. */
  calls?: number;
  /** The turn whose model call may start before the process dies, because it precedes the commit. */
  ahead?: 0 | 1;
  /** True if the client was asked for the call's outcome. */
  reconciled?: boolean;
}

const cases: [promise: string, point: string, kind: Kind, Outcome][] = [
  [
    "P1: what was committed and never acknowledged runs",
    "after_intent.model_call",
    "safe",
    { asked: [1, 1], calls: 1, ahead: 0 },
  ],
  ["P1: a run is there once it is created", "after_run.created", "safe", { asked: [1, 1], calls: 1, ahead: 0 }],
  ["P2: a call not sent yet is sent", "before_effect.model_call", "safe", { asked: [1, 1], calls: 1 }],
  ["P5: an answer not recorded is asked for again", "after_effect.model_call", "safe", { asked: [2, 1], calls: 1 }],
  ["P5: what did not commit did not happen", "before_result.model_call", "safe", { asked: [2, 1], calls: 1 }],
  ["P3: a recorded answer is not asked for again", "after_result.model_call", "safe", { asked: [1, 1], calls: 1 }],
  [
    "P3: a turn that is begun again calls no tool again",
    "before_effect.model_call:2",
    "safe",
    { asked: [1, 1], calls: 1 },
  ],
  ["P5: what was streamed of it is void", "after_effect.model_call:2", "safe", { asked: [1, 2], calls: 1 }],
  ["P5: nor is a last answer halfway there", "before_result.model_call:2", "safe", { asked: [1, 2], calls: 1 }],
  ["P7: an end not committed is reached again", "before_run.completed", "safe", { asked: [1, 2], calls: 1 }],
  ["P7: a committed end is one, told or not", "after_run.completed", "safe", { asked: [1, 1], calls: 1 }],

  ["P3: an answer and its calls are one", "before_intent.tool_call", "safe", { asked: [2, 1], calls: 1 }],
  ["P4: a call not sent is sent", "after_intent.tool_call", "safe", { asked: [1, 1], calls: 1 }],
  ["P4: a call about to leave is sent", "before_effect.tool_call", "safe", { asked: [1, 1], calls: 1 }],
  ["P4: a lost result is fetched under the same key", "after_effect.tool_call", "safe", { asked: [1, 1], calls: 2 }],
  ["P4: so is one that did not commit", "before_result.tool_call", "safe", { asked: [1, 1], calls: 2 }],
  ["P3: a result and the next intent are one", "before_intent.model_call:2", "safe", { asked: [1, 1], calls: 2 }],
  ["P3: a recorded result stands", "after_result.tool_call", "safe", { asked: [1, 1], calls: 1, ahead: 1 }],
  ["P3: so it does with the next intent", "after_intent.model_call:2", "safe", { asked: [1, 1], calls: 1, ahead: 1 }],

  ["P3: an answer and its calls are one", "before_intent.tool_call", "once", { asked: [2, 1], calls: 1 }],
  [
    "P4: nobody knows, so nobody guesses",
    "after_intent.tool_call",
    "once",
    { asked: [1, 1], calls: 0, reconciled: true },
  ],
  [
    "P4: nobody knows, so nobody guesses",
    "before_effect.tool_call",
    "once",
    { asked: [1, 1], calls: 0, reconciled: true },
  ],
  ["P4: at most once", "after_effect.tool_call", "once", { asked: [1, 1], calls: 1, reconciled: true }],
  ["P4: at most once", "before_result.tool_call", "once", { asked: [1, 1], calls: 1, reconciled: true }],
  ["P3: a recorded result stands", "after_result.tool_call", "once", { asked: [1, 1], calls: 1, ahead: 1 }],
  ["P4: the model is told that nobody knows", "after_effect.tool_call", "report", { asked: [1, 1], calls: 1 }],
  ["P4: repeated where its owner allows it", "after_effect.tool_call", "retry", { asked: [1, 1], calls: 2 }],

  ["P3: an answer and its question are one", "before_intent.tool_call", "client", { asked: [2, 1] }],
  ["P5: so are an answer and its pause", "before_run.requires_action", "client", { asked: [2, 1] }],
  ["P2: a question that nobody heard is asked", "after_run.requires_action", "client", { asked: [1, 1] }],
  ["P8: an output not committed is taken again", "before_result.tool_call", "client", { asked: [1, 1] }],
  ["P8: an output committed is not asked for again", "after_result.tool_call", "client", { asked: [1, 1] }],
];

describe("a run ends as promised when the process dies", () => {
  test.each(cases)("%s – %s, tool: %s", async (_, point, kind, { asked, calls = 0, reconciled = false, ahead }) => {
    await using stage = await startStage(point, kind);
    const run = await stage.dieAndFinish();
    expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });
    const times = [stage.asked(0), stage.asked(1)];
    if (ahead !== undefined && times[ahead] === asked[ahead] + 1) times[ahead]--;
    expect(times).toEqual(asked);
    expect([stage.calls(), stage.keys().length]).toEqual([calls, calls > 0 ? 1 : 0]);
    expect(stage.needs).toEqual(kind === "client" ? ["output"] : reconciled ? ["reconcile"] : []);
    if (kind === "report") expect(run.tool_calls).toMatchObject([{ error: { code: "outcome_unknown" } }]);
    expectExact(stage.frames());
    expect(textsOf(stage.frames()).at(-1)).toBe(run.output);
  });
});

test.each(["before_run.created", "before_intent.model_call"])(
  "P1: a run that did not commit was not acknowledged, and left nothing behind – %s",
  async (point) => {
    await using stage = await startStage(point, "safe");
    await stage.die();
    expect((await stage.server.get("/v1/runs")).body.data).toEqual([]);
    expect([stage.acknowledged(), stage.asked(0), stage.calls()]).toEqual([false, 0, 0]);
  },
);

// A cluster node sends nothing before the commit, because its commits are durable elsewhere.
describe.skipIf(usesSpare)("a model that is called during the commit of its step", () => {
  test("P5: is called for no run when the process dies there, and no client was told of one", async () => {
    await using stage = await startStage("mid_commit:1:hold", "safe");
    await stage.dieHeld(() => stage.asked(0) === 1);
    expect((await stage.server.get("/v1/runs")).body.data).toEqual([]);
    expect([stage.acknowledged(), stage.calls()]).toEqual([false, 0]);
  });

  test("P5: is called again when the process dies there, and nothing of the first answer is shown", async () => {
    await using stage = await startStage("mid_commit:2:hold", "safe");
    await stage.dieHeld(() => stage.asked(1) === 1);
    const run = await stage.finish();
    expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });
    expect([stage.asked(0), stage.asked(1), stage.calls(), stage.keys().length]).toEqual([1, 2, 2, 1]);
    expectExact(stage.frames());
    expect(textsOf(stage.frames()).at(-1)).toBe(run.output);
  });
});

test("P2: a process that dies while it recovers recovers at the next start", async () => {
  for (const point of ["before_run.recovered", "after_run.recovered"]) {
    await using stage = await startStage("after_effect.model_call", "safe");
    await stage.die({ RUNNEL_FAILPOINT: point });
    const run = await stage.finish();
    expect(run).toMatchObject({ status: "completed", attempt: point.startsWith("before") ? 2 : 3 });
    expect(stage.asked(0)).toBe(2);
    expectExact(stage.frames());
  }
});

test("P8: an output that was taken and not acknowledged may be sent again, and no other in its place", async () => {
  await using stage = await startStage("after_result.tool_call", "client");
  const { id } = await stage.dieAndFinish();
  const { call } = stage;
  const again = (output: unknown): Promise<ParsedResponse> =>
    stage.server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: call(), output }] });
  expect(await again("It happened.")).toMatchObject({ status: 200, body: { id, status: "completed" } });
  expect(await again("It did not.")).toMatchObject({ status: 409 });
  expect(stage.frames().filter(({ event }) => event === "tool.completed")).toHaveLength(1);
});

test("P7: a cancel counts from its commit on, told or not, and not before", async () => {
  for (const point of ["before_run.cancelled", "after_run.cancelled"]) {
    await using stage = await startStage(point, "client");
    const { id } = await stage.dieAt((server, run) => server.post(`/v1/runs/${run}/cancel`));
    const { body } = await stage.server.get(`/v1/runs/${id}`);
    expect(body.status).toBe(point.startsWith("before") ? "requires_action" : "cancelled");
    expect((await stage.server.post(`/v1/runs/${id}/cancel`)).body.status).toBe("cancelled");
    await stage.finish();
    expectExact(stage.frames());
  }
});

test("P9: a run that kills the process three times is failed, and the others continue", async () => {
  await using stage = await startStage("after_effect.model_call", "safe");
  await stage.die({ RUNNEL_FAILPOINT: "after_effect.model_call" }, { RUNNEL_FAILPOINT: "after_effect.model_call" });
  const run = await stage.finish();
  expect(run).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  expect(stage.asked(0)).toBe(3);
  expectExact(stage.frames());
  const other = await stage.server.post("/v1/runs?wait=60", { agent_id: run.agent_id, input: "Go" });
  expect(other.body.status).toBe("completed");
});

// A node checkpoints when it becomes leader, and would die before its first request.
test.skipIf(usesSpare)(
  "P1: committed data is there when the process dies at the checkpoint of a regular stop",
  async () => {
    for (const point of ["before_checkpoint", "after_checkpoint"]) {
      await using stage = await startStage(point, "client");
      const { id } = await stage.dieAt((server) => server.stop());
      expect((await stage.server.get(`/v1/runs/${id}`)).body.status).toBe("requires_action");
      expect(await stage.finish()).toMatchObject({ status: "completed", output: "I read 1 results.", attempt: 1 });
      expect(stage.asked(0)).toBe(1);
      expectExact(stage.frames());
    }
  },
);

test("P1: of a long record that a process dies over nothing is visible, and the next start deletes its rest", async () => {
  await using server = await startRunnel();
  const calls = Array(20).fill({ name: "nobody", arguments: {} });
  const script = [...Array(20).fill({ tool_calls: calls }), { text: "Done." }];
  const agent_id = await createScripted(server, script);
  const { body: run } = await server.post("/v1/runs?wait=60", { agent_id, input: "Go" });
  expect(run.status).toBe("completed");
  const pages = [(await server.get(`/v1/traces/${run.id}?limit=100&include=raw`)).body];
  while (pages.at(-1).steps_has_more) {
    const after = pages.at(-1).steps.at(-1).id;
    pages.push((await server.get(`/v1/traces/${run.id}?limit=100&include=raw&starting_after=${after}`)).body);
  }
  const trace = { ...pages[0], steps: pages.flatMap(({ steps }) => steps), steps_has_more: false };
  const stored = () => {
    using sqlite = new Database(join(server.dataDir, "runnel.db"), { readonly: true });
    const count = (table: string) => sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()!.n;
    return { runs: count("runs"), entries: count("run_events"), partial: count("partial_records") };
  };
  const before = stored();
  expect(before.entries).toBeGreaterThan(600); // More than one batch.

  await server.stop();
  await server.restart({ RUNNEL_FAILPOINT: "mid_record:2" });
  const importing = server.post("/v1/traces", trace).catch(() => {});
  expect(await server.died()).toBe("SIGKILL");
  await importing;
  expect(stored()).toMatchObject({ runs: 2, partial: 1 });
  await server.restart();
  expect((await server.get("/v1/runs")).body.data).toHaveLength(1);
  await waitUntil(() => isDeepStrictEqual(stored(), before));

  await server.stop();
  await server.restart({ RUNNEL_FAILPOINT: "mid_erasure" });
  const removing = server.fetch(`/v1/runs/${run.id}`, { method: "DELETE" }).catch(() => {});
  expect(await server.died()).toBe("SIGKILL");
  await removing;
  await server.restart();
  expect((await server.get(`/v1/runs/${run.id}`)).status).toBe(404);
  await waitUntil(() => isDeepStrictEqual(stored(), { runs: 0, entries: 0, partial: 0 }));
  expect((await server.post("/v1/traces", trace)).status).toBe(201);
  expect(stored()).toMatchObject({ runs: 1, partial: 0 });
});

type Environment = Record<string, string>;

/** Starts a server with a failpoint, a model that calls one tool and then says so, and a conforming client. */
async function startStage(point: string, kind: Kind) {
  const model = startModelServer();
  const toolServer = startToolServer();
  const connection = stubConnection(model.url);
  const server = await startRunnel({
    environment: { ...connection, RUNNEL_FAILPOINT: point },
    flags: ["--workers", "1"],
  });
  const url = kind === "client" ? {} : { url: `${toolServer.url}/weather` };
  const tool = await createTool(server, { ...url, ...tools[kind] });
  const agent_id = await createAgent(server, "turns-0", { tools: [tool.id] });
  const needs: string[] = [];
  const streams: EventStream[] = [];
  let call = "";

  const open = async (path: string, init: { body?: unknown; after?: string | null }): Promise<EventStream> => {
    const stream = await server.stream(path, init);
    streams.push(stream);
    return stream;
  };

  /** Creates the run and answers its calls until the connection breaks. */
  async function begin(): Promise<void> {
    const stream = await open("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
    const run = (await stream.until("run.created")).data.id;
    await stream.until("run.requires_action");
    await answer(run);
  }

  async function answer(id: string): Promise<void> {
    const { body: run } = await server.get(`/v1/runs/${id}`);
    const calls: Json[] = run.required_action?.submit_tool_outputs.tool_calls ?? [];
    if (calls.length === 0) return;
    call = calls[0].tool_call_id;
    for (const asked of calls) if (!needs.includes(asked.needs)) needs.push(asked.needs);
    const tool_outputs = calls.map(({ tool_call_id }) => ({ tool_call_id, output: "It happened." }));
    await server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs });
  }

  async function killed(): Promise<void> {
    expect(await server.died()).toBe("SIGKILL");
    await Promise.all(streams.map((stream) => stream.rest()));
  }

  async function restart(...deaths: Environment[]): Promise<void> {
    for (const death of deaths) {
      // The server may die before it reports that it is ready.
      await server.restart({ ...connection, ...death }).then(killed, () => {});
    }
    await server.restart(connection);
  }

  const lastId = (): string | null => streams.at(-1)?.lastId() ?? null;

  /** Reconnects after the death and follows the run to its end. */
  async function finish(): Promise<Json> {
    const [{ id }] = (await server.get("/v1/runs")).body.data;
    if (!isOver(await server.get(`/v1/runs/${id}`))) await follow(id);
    else await (await open(`/v1/runs/${id}/events`, { after: lastId() })).rest();
    return (await server.get(`/v1/runs/${id}`)).body;
  }

  async function follow(id: string): Promise<void> {
    const stream = await open(`/v1/runs/${id}/events`, { after: lastId() });
    if (kind !== "client" && !seen("run.recovered")) await stream.until("run.recovered");
    await answer(id);
    await stream.until(({ event }) => event === "run.requires_action" || (event.startsWith("run.") && isLast(event)));
    await answer(id);
    await stream.rest();
  }

  const seen = (event: string) => streams.some(({ frames }) => frames.some((frame) => frame.event === event));

  return {
    server,
    needs,
    call: () => call,
    /** Creates the run, dies at the failpoint, dies again with each further environment, and finally starts. */
    async die(...again: Environment[]): Promise<void> {
      const begun = begin().catch(() => {}); // The connection breaks.
      await killed();
      await begun;
      await restart(...again);
    },
    /** Creates the run, and is killed once the condition holds: the main thread stays at the failpoint until then. */
    async dieHeld(isSo: () => boolean): Promise<void> {
      const begun = begin().catch(() => {});
      await waitUntil(isSo);
      server.signal("SIGKILL");
      await killed();
      await begun;
      await restart();
    },
    async dieAndFinish(): Promise<Json> {
      await this.die();
      return finish();
    },
    /** Lets the run wait, and dies during the given act. */
    async dieAt(act: (server: Runnel, run: string) => Promise<unknown>): Promise<{ id: string }> {
      const stream = await open("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
      const { data } = await stream.until("run.requires_action");
      const acted = act(server, data.run_id).catch(() => {});
      await killed();
      await acted;
      await restart();
      return { id: data.run_id };
    },
    finish,
    /** True if the client was told of the run. */
    acknowledged: () => streams.length > 0,
    /** Returns all events that the client read over all its connections. */
    frames: (): Frame[] => streams.flatMap(({ frames }) => frames),
    asked: (turn: number): number =>
      model.requests.filter(({ messages }) => messages.filter(({ role }) => role === "tool").length === turn).length,
    calls: () => toolServer.calls.length,
    keys: () => [...toolServer.countsByKey("/weather").keys()],
    async [Symbol.asyncDispose]() {
      await Promise.all(streams.map((stream) => stream.close()));
      await server[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      await toolServer[Symbol.asyncDispose]();
    },
  };
}

const isOver = ({ body }: ParsedResponse): boolean => ["completed", "failed", "cancelled"].includes(body.status);
const isLast = (event: string): boolean => event === "run.completed" || event === "run.failed";

/** P6: over all connections every event once, in order, and one end. */
function expectExact(frames: readonly Frame[]): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(frames.filter(({ event }) => isLast(event))).toHaveLength(1);
  const completed = frames.filter(({ event }) => event === "tool.completed").map(({ data }) => data.tool_call_id);
  expect(new Set(completed).size).toBe(completed.length);
}
