import { beforeAll, expect, test } from "bun:test";
import * as samples from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { traceOf } from "../../domain/trace.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { corpus } from "../../testing/corpus.ts";
import { live } from "../../testing/simulation/life.ts";
import { exportedEvent } from "./capsule-writer.ts";
import { exportedAgent } from "./exported-agent.ts";
import { importAsRun } from "./import-as-run.ts";
import { readTraceExport } from "./import-run.ts";
import { settledRun } from "./imports.ts";

// Lives of the simulation, in which everything fails at random.
const lives = Number(process.env.SEEDS ?? 60);

interface Run {
  entries: JournalEntry[];
  agent: AgentSnapshot;
}
const runs: Run[] = corpus.map(({ entries, agent }) => ({ entries, agent }));

beforeAll(() => {
  const db = openDatabase(":memory:");
  for (let seed = 0; seed < lives; seed++) live(db, seed, (run) => runs.push(structuredClone(run)));
  db.close();
}, 60_000);

const noPause = async () => {};

async function imported({ entries, agent }: Run): Promise<JournalEntry[]> {
  const { event } = entries[0]!;
  const run_id = event.type === "run.created" ? event.run_id : "";
  const raw = entries.map((entry) => ({ ...entry, event: exportedEvent(entry.event) }));
  const body = JSON.parse(JSON.stringify({ object: "trace", run_id, agent: exportedAgent(agent), raw, steps: [] }));
  const [run] = await readTraceExport(body, Number.MAX_SAFE_INTEGER / 2, noPause);
  const place = { run_id, project_id: "p", environment: "test", agent_hash: "h", depth: 0, request_id: null } as const;
  const ids = {
    parent_run_id: null,
    parent_call_id: null,
    runIdOf: (id: string) => id,
    childIdOf: (id: string) => id,
    keepsImages: true,
  };
  return importAsRun(await settledRun(run!.entries, noPause), { ...place, ...ids }).map((entry, index) => ({
    seq: index + 1,
    ...entry,
  }));
}

test("every possible run has the same trace after an import, with exactly the same steps", async () => {
  expect(runs.length).toBeGreaterThan(lives);
  for (const run of runs) {
    const again = await imported(run);
    expect(traceOf(again.slice(0, run.entries.length)).steps).toEqual(asJson(traceOf(run.entries).steps));
  }
});

const asJson = <T>(value: T): T => JSON.parse(JSON.stringify(value));

const canary = "canarycanarycanary";
const secrets = [
  `sk_live_${canary}`,
  `Authorization: Bearer ${canary}`,
  `https://user:${canary}@host/path`,
  `whsec_${canary}`,
  `sk-${canary}`,
  `__Host-runnel=${canary}`,
].join(" ; ");

/** Returns the value with secrets in every name and text except those that identify the entry. */
function bugged(value: unknown, name = ""): unknown {
  if (typeof value === "string") return name === "type" || name === "step_type" ? value : `${value} ${secrets}`;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((inner) => bugged(inner));
  const own = Object.entries(value).map(([key, inner]) => [key, bugged(inner, key)] as const);
  return Object.fromEntries([...own, [secrets, secrets]]);
}

test("no secret is exported with an entry or an agent, in any field", () => {
  const events: RunEvent[] = [
    ...runs.slice(0, 40).flatMap(({ entries }) => entries.map(({ event }) => event)),
    samples.retrieved(1),
    samples.compacted(1),
    samples.guardrailDecided(2),
    { type: "documents.attached", documents: [samples.attached()] },
    { type: "history.loaded", messages: [{ role: "user", content: "Hello" }] },
  ];
  expect(new Set(events.map(({ type }) => type)).size).toBeGreaterThan(15);
  for (const event of events) expect(JSON.stringify(exportedEvent(bugged(event) as RunEvent))).not.toContain(canary);
  for (const { agent } of runs)
    expect(JSON.stringify(exportedAgent(bugged(agent) as AgentSnapshot))).not.toContain(canary);
});
