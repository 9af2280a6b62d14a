/**
 * Measures traces: `bun scripts/bench/traces.ts`. Bytes of the database per step of runs with a long prompt, through
 * the real loop; and the time to read, compare and export traces of 5,000 steps, with the longest delay of other
 * requests meanwhile. It reports and tests nothing; README.md explains the figures.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  answer,
  completed,
  created,
  requested,
  started,
  text,
  toolDone,
} from "../../server/domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../server/domain/agent-snapshot.ts";
import type { ScriptEntry } from "../../server/domain/model-call.ts";
import type { RunEvent } from "../../server/domain/run-event.ts";
import type { Scope } from "../../server/domain/scope.ts";
import type { Viewer } from "../../server/http/auth.ts";
import { createOtlpSource } from "../../server/resources/traces/otlp-source.ts";
import { promptsOf } from "../../server/resources/traces/prompts.ts";
import { readTrace } from "../../server/resources/traces/read-trace.ts";
import { createTraceStore } from "../../server/resources/traces/store.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { httpTool, runFixture } from "../../server/testing/run-fixture.ts";
import { testActor } from "../../server/testing/test-actor.ts";

const [runs, turns] = [40, 24];
const prompt_bytes = 20_000;
const long = { turns: 200, calls: 24 };
const rounds = 5;

const folder = mkdtempSync(join(tmpdir(), "runnel-traces-"));
try {
  console.log(await measureStorage());
  console.table(await measureReading());
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Measures runs of 50 steps: 25 model calls, and a tool output of 1 KB behind each but the last, two behind the first.
 */
async function measureStorage(): Promise<object> {
  using tools = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ said: words(1000) }) });
  const db = openDatabase(join(folder, "storage.db"));
  using bench = runFixture({ db });
  const look = httpTool("look", tools.url.href);
  const call = { name: "look", arguments: { city: "Paris" } };
  const script: ScriptEntry[] = Array.from({ length: turns }, (_, turn) => ({
    text: "I look it up.",
    tool_calls: turn === 0 ? [call, call] : [call],
  }));
  const asked = { tools: [look], agent: { max_turns: turns + 1 } };
  const ids: string[] = [];
  const before = used(db.sqlite);
  for (let count = 0; count < runs; count++) {
    const input = words(prompt_bytes);
    const { id } = await bench.start([...script, { text: "Done." }], { ...asked, run: { input } });
    await bench.settled(id);
    ids.push(id);
  }
  const bytes = used(db.sqlite) - before;
  let [steps, prompts] = [0, 0];
  for (const id of ids) {
    const trace = await readTrace(bench.journal, id);
    steps += trace!.steps.length;
    const { agent_hash } = trace!.state.run;
    const all = new Set(trace!.steps.map((step) => step.id));
    prompts += (await promptsOf(bench.journal, id, bench.journal.snapshot(bench.scope, agent_hash), all, 1e12)).length;
  }
  const naive = bytes + prompts;
  return {
    steps: steps / runs,
    "bytes a step": bytes / steps,
    "with every prompt": naive / steps,
    ratio: naive / bytes,
  };
}

function words(length: number): string {
  let text = "";
  while (text.length < length) text += `${Math.random().toString(36).slice(2, 9)} `;
  return text.slice(0, length);
}

function used(sqlite: ReturnType<typeof openDatabase>["sqlite"]): number {
  const pragma = (name: string): number => Object.values(sqlite.query(`PRAGMA ${name}`).get() as object)[0];
  return (pragma("page_count") - pragma("freelist_count")) * pragma("page_size");
}

async function measureReading(): Promise<object> {
  const db = openDatabase(join(folder, "reading.db"));
  using bench = runFixture({ db });
  const { journal, scope } = bench;
  const traces = createTraceStore({ db, journal, otlp: createOtlpSource({ db, journal }) });
  const viewer = { ...scope, actor: testActor } as unknown as Viewer;
  const [a, b] = ["run_0000000000000000000000000a", "run_0000000000000000000000000b"] as const;
  for (const id of [a, b]) await store(bench.journal, scope, id);
  const page = { limit: 100, starting_after: null, raw: false, subagents: false, prompts: false };
  return {
    "a page of the trace": await timed(() => traces.get(viewer, a, page)),
    "the same with raw": await timed(() => traces.get(viewer, a, { ...page, raw: true })),
    "the same with prompts": await timed(() => traces.get(viewer, a, { ...page, prompts: true })),
    "a page of the diff": await timed(() => traces.diff(viewer, a, b, { limit: 100, starting_after: null })),
    "the export to OTLP": await timed(() => traces.otlp(viewer, a, true)),
  };
}

/** Stores a run of 5,000 steps with unique texts. */
async function store(journal: ReturnType<typeof runFixture>["journal"], scope: Scope, id: string): Promise<void> {
  const agent = { id: "agt_1", version: 1, name: "Clerk", model: "test/script", instructions: "Be brief." };
  const pinned = { ...agent, settings: {}, tools: [], max_turns: long.turns, output_schema: null } as AgentSnapshot;
  const events: RunEvent[] = [created({ ...scope, run_id: id, agent_hash: journal.hashOf(pinned) })];
  for (let turn = 0; turn < long.turns; turn++) events.push(...turnOf(turn, id));
  const at = Date.now();
  await journal.commitAll(() => {
    const entries = journal.insertRecord(
      id,
      events.map((event, index) => ({ at: at + index, event })),
    );
    journal.pin(scope, id, pinned);
    return [[id, entries.slice(-1)]];
  });
}

function turnOf(turn_index: number, id: string): RunEvent[] {
  const step = turn_index * (long.calls + 1);
  const calls = Array.from({ length: long.calls }, (_, index) => `call_${turn_index}_${index}`);
  const parts = calls.map((call) => ({ type: "tool_call" as const, id: call, name: "look", arguments: "{}" }));
  return [
    started(step, { turn_index, step_id: `stp_${step}`, input_hash: `${id} ${turn_index}` }),
    completed(step, { answer: answer([text(words(500)), ...parts], { message_id: `msg_${turn_index}` }) }),
    ...calls.flatMap((call, index) => {
      const own = { step_index: step + 1 + index, turn_index, tool: "look" };
      const begin = started(own.step_index, { turn_index, step_type: "tool_call", name: "look", tool_call_id: call });
      return [
        requested(call, own.step_index, null, own),
        begin,
        ...toolDone(call, own.step_index, { output: words(500) }),
      ];
    }),
  ];
}

/** Returns the duration of the work and the longest block of the event loop: the first time, and the median. */
async function timed(work: () => Promise<unknown>): Promise<object> {
  const [times, waits]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    let [on, worst, last] = [true, 0, performance.now()];
    const listen = () => {
      worst = Math.max(worst, performance.now() - last);
      last = performance.now();
      if (on) setImmediate(listen);
    };
    listen();
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
    await new Promise((resolve) => setImmediate(resolve));
    on = false;
    waits.push(worst);
  }
  const middle = (list: number[]): number => list.toSorted((x, y) => x - y)[rounds >> 1]!;
  const figures = {
    "first (ms)": times[0],
    "median (ms)": middle(times),
    "first wait (ms)": waits[0],
    "wait (ms)": middle(waits),
  };
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round(value!)]));
}
