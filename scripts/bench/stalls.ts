/**
 * Measures how long other requests wait while one request works on a large item: `bun scripts/bench/stalls.ts [WORD…]`,
 * on Linux. The server runs in this process, which measures the longest block of its event loop and the longest stretch
 * of processor time. It reports and tests nothing; README.md explains the figures.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../server/app.ts";
import {
  answer,
  asks,
  completed,
  created,
  requested,
  started,
  stateOf,
  text,
  toolDone,
  toolStarted,
} from "../../server/domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../server/domain/agent-snapshot.ts";
import { newId, siblingId } from "../../server/domain/ids.ts";
import type { RunEvent } from "../../server/domain/run-event.ts";
import type { Scope } from "../../server/domain/scope.ts";
import { vecLibrary } from "../../server/lib/assets.ts";
import { silentLog } from "../../server/lib/log.ts";
import { createSeal } from "../../server/lib/seal.ts";
import { createRunProjection } from "../../server/runs/run-projection.ts";
import { openDatabase } from "../../server/storage/db/open.ts";
import { Journal } from "../../server/storage/journal/journal.ts";
import { testActor } from "../../server/testing/test-actor.ts";

const [turns, calls] = [200, 24];
const output_bytes = 500;
const tool = "look_up";

const folder = mkdtempSync(join(tmpdir(), "runnel-stalls-"));
const path = join(folder, "runnel.db");
const db = openDatabase(path, { vecLibrary: vecLibrary(folder) });
const server = createApp({
  db,
  database: path,
  seal: createSeal(crypto.getRandomValues(new Uint8Array(32))),
  log: silentLog,
  environment: {},
  workers: 1,
  egress: { allow: [], loopback: true },
});
const { id: project_id } = server.projects.byName("default") ?? (await server.projects.create("default"));
const scope: Scope = { project_id, environment: "test" };
const key = await server.keys.create({ ...scope, actor: testActor }, { name: "bench", scopes: ["admin"] });
const journal = new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now: Date.now });

async function ask(method: string, address: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await server.app.handle(
    new Request(`http://localhost/v1/${address}`, {
      method,
      headers: {
        authorization: `Bearer ${key.secret}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body:
        body === undefined
          ? null
          : body instanceof Uint8Array
            ? (body as Uint8Array<ArrayBuffer>)
            : JSON.stringify(body),
    }),
  );
  const bytes = await response.bytes();
  if (!response.ok)
    throw new Error(`${method} ${address}: ${response.status} ${new TextDecoder().decode(bytes.slice(0, 500))}`);
  return bytes;
}

const json = (bytes: Uint8Array) => JSON.parse(new TextDecoder().decode(bytes));

const agent = json(await ask("POST", "agents", { name: "Clerk", instructions: "Be brief.", model: "test/echo" }));
const pinned = {
  id: agent.id,
  version: 1,
  name: "Clerk",
  model: "test/echo",
  instructions: "Be brief.",
  settings: {},
  tools: [],
  max_turns: 100,
  output_schema: null,
} as AgentSnapshot;

/** Stores a run of 19,600 events. */
async function store(over: boolean, more: { thread_id?: string } = {}): Promise<string> {
  const run_id = newId("run");
  const own = { agent_id: agent.id, agent_hash: journal.hashOf(pinned), model: "test/echo", timeout_ms: 3_600_000 };
  const said = Array.from({ length: turns }, (_, turn) => turnOf(turn)).flat();
  const { usage } = stateOf(created(), ...said);
  const end = { type: "run.completed", output: "Done.", output_json: null, usage } as const;
  const events: RunEvent[] = [created({ run_id, ...scope, ...own, ...more }), ...said, ...(over ? [end] : [])];
  const at = Date.now();
  await journal.commit(run_id, () => {
    const record = journal.insertRecord(
      run_id,
      events.map((event, index) => ({ at: at + (index >> 4), event })),
    );
    journal.pin(scope, run_id, pinned);
    return record;
  });
  return run_id;
}

function turnOf(turn_index: number): RunEvent[] {
  const step = turn_index * (calls + 1);
  const ids = Array.from({ length: calls }, () => newId("tool_call"));
  const model = answer([text("I look it up."), ...ids.map((id) => asks(id))], { message_id: newId("message") });
  const ofCalls = ids.flatMap((id, index) => {
    const at = step + 1 + index;
    const begin = { ...toolStarted(id, at), turn_index, step_id: newId("step") };
    return [
      requested(id, at, null, { turn_index, tool }),
      begin,
      ...toolDone(id, at, { tool, output: `${at} ${"x".repeat(output_bytes)}` }),
    ];
  });
  return [started(step, { turn_index, step_id: newId("step") }), completed(step, { answer: model }), ...ofCalls];
}

/** Processor time of this thread in ms, which excludes the work of other processes on its core. */
const worked = (): number =>
  Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

let longest = { wait: 0, work: 0 };
let last = { wait: performance.now(), work: worked() };
let on = true;
const listen = () => {
  const now = { wait: performance.now(), work: worked() };
  longest = { wait: Math.max(longest.wait, now.wait - last.wait), work: Math.max(longest.work, now.work - last.work) };
  last = now;
  if (on) setImmediate(listen);
};
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const rows: Record<string, object> = {};
const words = Bun.argv.slice(2);
const repeats = 3;

/** Measures the middle of three rounds, without `prepare`. */
async function stall<T>(name: string, prepare: () => Promise<T>, work: (given: T) => Promise<unknown>): Promise<void> {
  if (words.length > 0 && !words.some((word) => name.includes(word))) return;
  const seen: { wait: number; work: number; took: number }[] = [];
  for (let round = 0; round < repeats; round++) {
    const given = await prepare();
    Bun.gc(true);
    await Bun.sleep(50);
    last = { wait: performance.now(), work: worked() };
    longest = { wait: 0, work: 0 };
    const begun = performance.now();
    await work(given);
    const took = performance.now() - begun;
    await nextTurn();
    await nextTurn();
    seen.push({ ...longest, took });
  }
  const middle = (of: "wait" | "work" | "took") =>
    Math.round(seen.map((one) => one[of]).toSorted((a, b) => a - b)[repeats >> 1]! * 10) / 10;
  rows[name] = { "at a stretch (ms)": middle("work"), "others wait (ms)": middle("wait"), "took (ms)": middle("took") };
}

listen();
const long = await store(true);
const other = await store(true);
const none = async () => {};
const fresh = () => store(true);
const going = () => store(false);

await stall("nothing, 200 ms", none, () => Bun.sleep(200));
await stall("GET a run", none, () => ask("GET", `runs/${long}`));
await stall("GET a run without its lists", none, () => ask("GET", `runs/${long}?exclude=messages,tool_calls`));
await stall("list of runs", none, () => ask("GET", "runs?limit=100"));
await stall("list of runs with messages", none, () => ask("GET", "runs?limit=100&include=messages"));
await stall("GET events", none, () => ask("GET", `runs/${long}/events?limit=100`));
await stall("GET events after a token", none, () => ask("GET", `runs/${long}/events?limit=100&starting_after=2.3`));
await stall("stream of events", none, () =>
  ask("GET", `runs/${long}/events`, undefined, { accept: "text/event-stream" }),
);
await stall("stream after a token", none, () =>
  ask("GET", `runs/${long}/events`, undefined, { accept: "text/event-stream", "last-event-id": "2.3" }),
);
await stall("trace", none, () => ask("GET", `traces/${siblingId(long, "trace")}?limit=100`));
await stall("trace with raw", none, () => ask("GET", `traces/${siblingId(long, "trace")}?limit=100&include=raw`));
await stall("trace with prompts", none, () =>
  ask("GET", `traces/${siblingId(long, "trace")}?limit=100&include=prompt`),
);
await stall("diff", none, () => ask("GET", `runs/${long}/diff/${other}`));
await stall("OTLP", none, () => ask("GET", `traces/${siblingId(long, "trace")}?format=otlp&content=true`));
await stall("capsule", none, () => ask("GET", `runs/${long}/capsule`));
await stall("cancel", going, (id) => ask("POST", `runs/${id}/cancel`, {}));
await stall("fork at the end", none, () => ask("POST", `runs/${long}/fork`, { step_index: turns * (calls + 1) - 1 }));
await stall("fork in the middle", none, () =>
  ask("POST", `runs/${long}/fork`, { step_index: (turns >> 1) * (calls + 1) - 1 }),
);
await stall("replay", none, () => ask("POST", `runs/${long}/replay`, { mode: "strict" }));
await stall("import", exported, (body) => ask("POST", "traces", body));
await stall("delete a run", fresh, (id) => ask("DELETE", `runs/${id}`));
await stall("delete a trace", fresh, (id) => ask("DELETE", `traces/${siblingId(id, "trace")}`));
await stall(
  "retention",
  async () => {
    const id = await store(true);
    db.sqlite.run("UPDATE runs SET ended_at_ms = 1000 WHERE id = ?", [id]);
    await server.projects.keep(project_id, "test", { runs_days: 1 });
  },
  () => server.sweep(),
);
const thread = await talk();
await stall("messages of a thread", none, () => ask("GET", `threads/${thread}/messages?limit=100`));
await stall("a run after long messages", none, () =>
  ask("POST", "runs?wait=10", { agent_id: agent.id, thread_id: thread, input: "Hi" }),
);

console.table(rows);
on = false;
await server.stop();
db.close();
rmSync(folder, { recursive: true, force: true });
process.exit(0);

async function exported(): Promise<Uint8Array> {
  const whole = json(await ask("GET", `traces/${siblingId(long, "trace")}?limit=100&include=raw`));
  for (let page = whole; page.steps_has_more; ) {
    const after = page.steps.at(-1).id;
    page = json(await ask("GET", `traces/${siblingId(long, "trace")}?limit=100&include=raw&starting_after=${after}`));
    whole.steps.push(...page.steps);
  }
  whole.steps_has_more = false;
  return new TextEncoder().encode(JSON.stringify(whole));
}

async function talk(): Promise<string> {
  const { id } = json(await ask("POST", "threads", {}));
  for (let message = 0; message < 100; message++)
    await ask("POST", `threads/${id}/messages`, {
      role: message % 2 ? "assistant" : "user",
      content: `${message} `.padEnd(250_000, "long words "),
    });
  return id;
}
