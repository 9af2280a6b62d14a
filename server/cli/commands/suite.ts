import { isId } from "../../domain/ids.ts";
import { type ApiClient, ConnectionLost } from "./api-client.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { readDuration } from "./duration.ts";
import { CliError, exitCodes, usageError } from "./exit-code.ts";
import { writeOut } from "./output.ts";
import { print, printable, table } from "./print.ts";
import { caseLines, type ShownSuiteRun, summaryLine } from "./suite-lines.ts";

export interface SuiteRunFlags extends ClientFlags {
  live?: boolean;
  maxCostUsd?: number;
  maxRuns?: number;
  timeout?: string;
}

interface Suite {
  id: string;
  name: string;
  cases_count: number;
  created_at: string;
}

const [first_ms, most_ms] = [100, 2000];
const retries = 30;

/** Performs a suite, prints the result of each case, and sets exit code 1 unless all are equal. */
export async function runSuite(suite: string, flags: SuiteRunFlags): Promise<void> {
  const [body, timeout] = [{ live: liveOf(flags) }, readDuration(flags.timeout, "--timeout")];
  const client = await openClient(flags);
  const suiteRun = await orUnknown(async () => {
    const id = isId("suite", suite) ? suite : await findSuite(client, suite);
    const initial = await client.post<ShownSuiteRun>(`/suites/${id}/runs`, body);
    return await follow(client, initial, flags.json ? () => {} : (line) => writeOut(`${line}\n`), timeout);
  });
  print(flags.json, suiteRun, () => summaryLine(suiteRun));
  process.exitCode = outcomes[suiteRun.status] ?? exitCodes.failed;
}

const outcomes: Record<string, number> = { passed: exitCodes.done, cancelled: exitCodes.usage };

/** Turns errors into exit code 2, because 1 means that a case differs. */
async function orUnknown<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectionLost || error instanceof CliError)) throw error;
    throw new CliError(error.message, exitCodes.usage);
  }
}

function liveOf({ live, maxCostUsd, maxRuns }: SuiteRunFlags): object | null {
  if (!live && (maxCostUsd !== undefined || maxRuns !== undefined))
    throw usageError("--max-cost-usd and --max-runs are for what goes on with --live.");
  return live ? { max_cost_usd: maxCostUsd, max_runs: maxRuns } : null;
}

/** Polls until the suite run is over, across server restarts; prints each case once it is decided. */
async function follow(
  client: ApiClient,
  started: ShownSuiteRun,
  writeLine: (line: string) => void,
  timeout = Number.POSITIVE_INFINITY,
): Promise<ShownSuiteRun> {
  const path = `/suites/${started.suite_id}/runs/${started.id}`;
  const interrupts = cancelOnInterrupt(client, path);
  const end = performance.now() + timeout * 1000;
  let now = started;
  let printedCount = 0;
  try {
    for (let pause_ms = first_ms; ; pause_ms = Math.min(most_ms, pause_ms * 1.5)) {
      const ready = decidedCases(now).slice(printedCount);
      for (const line of ready.flatMap(caseLines)) writeLine(line);
      printedCount += ready.length;
      if (now.status !== "in_progress") return now;
      if (performance.now() > end) throw await late(client, path, started.id);
      await Bun.sleep(Math.min(pause_ms, end - performance.now() + 1));
      now = await withRetry(() => client.get<ShownSuiteRun>(path), started.id);
      // Its last case may still wait for a fork; the response of the cancel has the end of that.
      if (now.status === "cancelled") now = (await interrupts.cancelled()) ?? now;
    }
  } finally {
    interrupts.stop();
  }
}

/** Returns the cases before the first undecided one; all cases if the suite run is over. */
function decidedCases({ status, cases }: ShownSuiteRun): ShownSuiteRun["cases"] {
  const next = status === "in_progress" ? cases.findIndex((each) => each.status === "pending") : -1;
  return next === -1 ? cases : cases.slice(0, next);
}

/** Retries a request while the server restarts. */
async function withRetry<T>(ask: () => Promise<T>, id: string): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      if (++failures > retries) throw new CliError(`${error.message} The suite run ${id} goes on once it is back.`);
    }
    await Bun.sleep(most_ms);
  }
}

async function late(client: ApiClient, path: string, id: string): Promise<CliError> {
  await client.post(`${path}/cancel`);
  return new CliError(`The suite run ${id} was not over in time and is cancelled.`);
}

/** Handles Ctrl-C: the first cancels the suite run, which then ends; the second exits at once. */
function cancelOnInterrupt(client: ApiClient, path: string) {
  let cancelled: Promise<ShownSuiteRun | null> | null = null;
  const interrupt = () => {
    if (cancelled) process.exit(exitCodes.usage);
    console.error("cancelling …");
    cancelled = client.post<ShownSuiteRun>(`${path}/cancel`).catch((error: Error) => {
      console.error(printable(error.message));
      return null;
    });
  };
  // A cancelled CI build sends SIGTERM.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, interrupt);
  return {
    /** Resolves with the response of the cancel; null if none was sent or it failed. */
    cancelled: () => cancelled,
    stop() {
      for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, interrupt);
    },
  };
}

async function findSuite(client: ApiClient, name: string): Promise<string> {
  const { data } = await client.get<{ data: Suite[] }>(`/suites?name=${encodeURIComponent(name)}`);
  if (!data[0]) throw new CliError(`There is no suite "${name}".`);
  return data[0].id;
}

/** Creates a suite of runs. */
export async function createSuite(name: string, run_ids: string[], flags: ClientFlags): Promise<void> {
  const client = await openClient(flags);
  const suite = await orUnknown(() => client.post<Suite>("/suites", { name, run_ids }));
  print(flags.json, suite, () => `${suite.id}  ${printable(suite.name)}, ${suite.cases_count} pinned`);
}

/** Lists all suites. */
export async function listSuites(flags: ClientFlags): Promise<void> {
  const client = await openClient(flags);
  const data = await orUnknown(() => Array.fromAsync(client.all<Suite>("/suites")));
  const rows = data.map(({ id, name, cases_count, created_at }) => [id, name, String(cases_count), created_at]);
  print(flags.json, { object: "list", data }, () => table(["ID", "NAME", "RUNS", "CREATED"], rows));
}
