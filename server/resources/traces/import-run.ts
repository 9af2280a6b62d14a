import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { Trace } from "../../domain/api-types/trace.ts";
import { capsuleLimits } from "../../domain/capsule-format.ts";
import { AppError } from "../../domain/errors.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { fault, invalid, validationError } from "../../http/errors.ts";
import { parseJsonAsync } from "../../http/parse-json-async.ts";
import type { CapsuleContent } from "../../runtime/sandbox/capsule-reader.ts";
import { readAgent } from "./import-agent.ts";
import { readEvent } from "./import-event.ts";

/** An imported run with valid entries. */
export interface ForeignRun {
  run_id: string;
  /** The earlier run whose call started it; null for the root. */
  parent_run_id: string | null;
  agent: AgentSnapshot;
  entries: JournalEntry[];
}

/** Tolerance for differing clocks. */
const clockSkew_ms = 24 * 3_600_000;

/** Yields now and then. */
export type Pause = () => Promise<void>;

const exported = new Set(Object.keys(Trace.properties));

/** Parses the response of `GET /v1/traces/:run_id?include=raw`, with its pages joined. */
export async function readTraceExport(body: unknown, now: number, pause: Pause): Promise<ForeignRun[]> {
  const { object, run_id, agent, raw, steps }: Record<string, unknown> = Object(body);
  if (object !== "trace" || typeof run_id !== "string" || !Array.isArray(steps))
    throw invalid("object", "This is not an exported trace. Send what GET /v1/traces/:run_id?include=raw returns.");
  if (!Array.isArray(raw) || typeof agent !== "object" || agent === null)
    throw invalid("raw", "The trace has no entries. Export it with include=raw, from its first page on.");
  // Unknown fields are refused, because they would be lost silently.
  const unknown = Object.keys(body as object).filter((name) => !exported.has(name));
  if (unknown.length > 0)
    throw validationError(
      unknown.slice(0, 100).map((name) => fault(name, "An exported trace has no such field.", "unknown_parameter")),
    );
  if (steps.length > capsuleLimits.steps) throw invalid("steps", `Must have at most ${capsuleLimits.steps} steps.`);
  // Child runs have exports of their own.
  const own = steps.map((step) => Object(step)).filter((step) => step.run_id === undefined || step.run_id === run_id);
  const pieces: unknown[][] = [raw, ...own.map((step) => (Array.isArray(step.raw) ? step.raw : []))];
  requireCount(
    "",
    pieces.reduce((sum, { length }) => sum + length, 0),
  ); // Millions would block the thread for seconds.
  const entries = pieces.flat().map((entry): ParsedEntry => {
    const { seq, at, event }: Record<string, unknown> = Object(entry);
    return { seq, at, event };
  });
  await pause();
  const sorted = entries.sort(bySeq);
  await pause();
  return distinct([await runOf("", run_id, null, agent, sorted, now, pause)]);
}

/** Parses the runs of a capsule. */
export async function readCapsuleContent(content: CapsuleContent, now: number, pause: Pause): Promise<ForeignRun[]> {
  const runs: ForeignRun[] = [];
  if (content.runs.length === 0) throw invalid("runs", "The capsule contains no run.");
  for (const [i, { run_id, parent_run_id, agent_hash, entries }] of content.runs.entries()) {
    const path = `runs[${i}].`;
    const isInPlace = i === 0 ? parent_run_id === null : runs.some((run) => run.run_id === parent_run_id);
    if (!isInPlace || runs.some((run) => run.run_id === run_id))
      throw invalid(`${path}parent_run_id`, "Must be one run and its subagent runs.");
    const snapshot = content.agents.get(agent_hash);
    if (snapshot === undefined) throw invalid(`${path}agent_hash`, "The capsule does not contain the run's agent.");
    const parsedEntries: ParsedEntry[] = [];
    for (const { seq, at, event } of entries) {
      parsedEntries.push({ seq, at, event: await parsed(event, `${path}entries[${parsedEntries.length}].event`) });
      await pause();
    }
    runs.push(
      await runOf(path, run_id, parent_run_id, await parsed(snapshot, `${path}agent`), parsedEntries, now, pause),
    );
  }
  return distinct(runs);
}

/** Requires unique step ids, and one run per call: otherwise paging, or following calls, would never end. */
function distinct(runs: ForeignRun[]): ForeignRun[] {
  const steps = new Set<string>();
  const callers = new Map<string, string>();
  const calleeByCaller = new Map<string, string>();
  for (const { run_id, entries } of runs)
    for (const { event } of entries) {
      if ("step_id" in event && steps.size === steps.add(event.step_id).size)
        throw invalid("step_id", `Two steps have the id ${event.step_id}.`);
      if (event.type !== "subagent.started") continue;
      const caller = `${run_id} ${event.tool_call_id}`;
      if (!putOnce(callers, event.run_id, caller) || !putOnce(calleeByCaller, caller, event.run_id))
        throw invalid(
          "run_id",
          `Must have one run per call of an agent and one call per run: ${event.run_id} breaks this.`,
        );
    }
  return runs;
}

/** Stores the value under a new name. Returns false if the name has another value. */
function putOnce(known: Map<string, string>, name: string, value: string): boolean {
  if (!known.has(name)) known.set(name, value);
  return known.get(name) === value;
}

interface ParsedEntry {
  seq: unknown;
  at: unknown;
  event: unknown;
}

/** Entries without a numeric `seq` stay in place and are refused there. */
const bySeq = (a: ParsedEntry, b: ParsedEntry): number =>
  typeof a.seq === "number" && typeof b.seq === "number" ? a.seq - b.seq : 0;

async function runOf(
  path: string,
  run_id: string,
  parent_run_id: string | null,
  snapshot: unknown,
  given: readonly ParsedEntry[],
  now: number,
  pause: Pause,
): Promise<ForeignRun> {
  const read = readAgent(snapshot);
  if ("message" in read) throw invalid(joined(`${path}agent`, read.path), read.message);
  requireCount(path, given.length);
  const entries: JournalEntry[] = [];
  for (const entry of given) {
    entries.push(entryOf(`${path}entries[${entries.length}]`, entry, entries.at(-1), now));
    await pause();
  }
  return { run_id, parent_run_id, agent: read.agent, entries };
}

function requireCount(path: string, count: number): void {
  const maxEntries = capsuleLimits.entries;
  if (count === 0 || count > maxEntries) throw invalid(`${path}entries`, `Must have 1 to ${maxEntries} entries.`);
}

function entryOf(
  path: string,
  { seq, at, event }: ParsedEntry,
  before: JournalEntry | undefined,
  now: number,
): JournalEntry {
  if (seq !== (before?.seq ?? 0) + 1) throw invalid(`${path}.seq`, "Must be numbered from 1 without gaps.");
  if (!Number.isSafeInteger(at) || Number(at) < (before?.at ?? 0) || Number(at) > now + clockSkew_ms)
    throw invalid(`${path}.at`, "Must be times in order, and none in the future.");
  const read = readEvent(event);
  if ("message" in read) throw invalid(joined(`${path}.event`, read.path), read.message);
  if ((read.event.type === "run.created") !== (seq === 1))
    throw invalid(`${path}.event.type`, "Must be run.created in the first entry, and only there.");
  return { seq: Number(seq), at: Number(at), event: read.event };
}

async function parsed(text: string, path: string): Promise<unknown> {
  try {
    return await parseJsonAsync(Buffer.from(text), capsuleLimits.json_depth);
  } catch (error) {
    if (error instanceof AppError) throw invalid(path, error.message);
    throw error;
  }
}

const joined = (path: string, rest: string): string => (rest === "" ? path : `${path}.${rest}`);
