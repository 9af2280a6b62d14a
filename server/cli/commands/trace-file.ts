import { closeSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { capsuleLimits, sqliteMagic } from "../../domain/capsule-format.ts";
import { AppError } from "../../domain/errors.ts";
import type { TraceStep } from "../../domain/trace.ts";
import { parseJson } from "../../http/parse-json.ts";
import { firstItem } from "../../lib/collections.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { createForeignFold, InvalidRun } from "../../resources/traces/import-fold.ts";
import { type ForeignRun, readCapsuleContent, readTraceExport } from "../../resources/traces/import-run.ts";
import { nestedSteps } from "../../resources/traces/nested-steps.ts";
import { traceSummary } from "../../resources/traces/trace-summary.ts";
import { piecesOf } from "../../resources/traces/workspace.ts";
import { createCapsuleReader } from "../../runtime/sandbox/capsule-reader.ts";
import { selfTest } from "../../runtime/sandbox/self-test.ts";
import { CliError } from "./exit-code.ts";
import type { ShownTrace } from "./trace-tree.ts";

/** Reads the trace in a capsule or an exported trace, without a server. Throws with the fault of the file. */
export async function readTraceFile(path: string): Promise<ShownTrace> {
  const file = openSync(path, "r");
  try {
    return await toTree(isSqlite(file) ? await runsOfCapsule(file) : await runsOfJson(file));
  } catch (error) {
    if (error instanceof AppError || error instanceof InvalidRun || error instanceof NoTrace)
      throw new CliError(`${path} is neither a capsule nor an exported trace that can be shown. ${wordsOf(error)}`);
    throw error;
  } finally {
    closeSync(file);
  }
}

class NoTrace extends Error {}

/** Rewrites messages of the request reader, which speak of a body. */
const wordsOf = ({ message }: Error): string => message.replace(/^The body/, "It");

function isSqlite(file: number): boolean {
  const start = Buffer.alloc(sqliteMagic.length);
  return readSync(file, start, 0, start.length, 0) === start.length && start.toString("latin1") === sqliteMagic;
}

/** Reads a capsule in a sandboxed process: a foreign file may be made to attack its reader. */
async function runsOfCapsule(file: number): Promise<ForeignRun[]> {
  const order = { bytes: fstatSync(file).size, content: piecesOf(file) };
  const read = await createCapsuleReader({ level: selfTest }).read(order, new AbortController().signal);
  if ("error" in read) throw new NoTrace(read.error);
  return await readCapsuleContent(read.content, Date.now(), createYielder());
}

async function runsOfJson(file: number): Promise<ForeignRun[]> {
  const most = capsuleLimits.json_bytes;
  if (fstatSync(file).size > most) throw new NoTrace(`It has more than ${most} bytes.`);
  return await readTraceExport(parseJson(readFileSync(file), capsuleLimits.json_depth), Date.now(), createYielder());
}

async function toTree(runs: readonly ForeignRun[]): Promise<ShownTrace> {
  const entriesByRun = runs.map(({ run_id, parent_run_id, entries }) => {
    const fold = createForeignFold();
    for (const entry of entries) fold.add(entry);
    return { run_id, parent_run_id, trace: fold.trace() };
  });
  const root = firstItem(entriesByRun);
  const { project_id, environment } = root.trace.state.run;
  const steps: TraceStep[] = [];
  const childOf = (subagent: { run_id: string }, parent: string) =>
    entriesByRun.find(({ run_id, parent_run_id }) => run_id === subagent.run_id && parent_run_id === parent) ?? null;
  for await (const step of nestedSteps(root, childOf)) steps.push(step);
  const summary = traceSummary({ id: root.run_id, project_id, environment }, root.trace);
  return Object.assign(summary, { steps, steps_has_more: false });
}
