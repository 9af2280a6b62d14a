import { readdirSync, readFileSync } from "node:fs";
import { constants, setPriority } from "node:os";
import type { Load, Measurement } from "./load.ts";

/** Core of the system under test, and core of the load. */
const cores = { system: "0", rest: "1" } as const;
const taskset = Bun.which("taskset");

/** True if processes stay on their cores. */
export const isPinned = taskset !== null;

/** A process that printed a line of JSON when it was ready. */
export interface StartedProcess<Line> extends AsyncDisposable {
  line: Line;
  pid: number;
  /** Milliseconds from the start of the process to its line. */
  ready_ms: number;
}

interface Options {
  env?: Record<string, string>;
  cwd?: string;
  core?: keyof typeof cores;
}

const pinned = (command: string[], core: keyof typeof cores): string[] =>
  taskset ? [taskset, "-c", cores[core], ...command] : command;

/** Starts a process and waits for its line; disposal ends it. */
export async function start<Line>(
  command: string[],
  { env, cwd, core = "rest" }: Options = {},
): Promise<StartedProcess<Line>> {
  const begun = performance.now();
  const child = Bun.spawn(pinned(command, core), {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    for await (const piece of child.stdout) {
      text += new TextDecoder().decode(piece);
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    }
    reject(new Error(`${command.join(" ")} ended and had said: ${text}`));
  })();
  const line: Line = JSON.parse(await promise);
  return {
    line,
    pid: child.pid,
    ready_ms: performance.now() - begun,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** Puts a load on a server, from another process. */
export async function measure(load: Load): Promise<Measurement> {
  const child = Bun.spawn(pinned([process.execPath, `${import.meta.dir}/load.ts`, JSON.stringify(load)], "rest"), {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const measured: Measurement = JSON.parse(await new Response(child.stdout).text());
  if (measured.errors > 0) console.error(`  ${measured.errors} of ${load.url} went wrong: ${measured.lastError}`);
  return measured;
}

const wrk = Bun.which("wrk");

/**
 * Measures reads over 32 connections, and the server's processor time per read; by wrk, because Bun's client is the
 * bottleneck.
 */
export async function measureReads(pid: number, load: Omit<Load, "connections">, duration_ms: number) {
  const before = processorTime(pid);
  const count = wrk
    ? await wrkReads(load, duration_ms)
    : (await measure({ ...load, connections: 32, duration_ms })).count;
  return { perSecond: (count / duration_ms) * 1000, time_us: ((processorTime(pid) - before) / count) * 1000 };
}

async function wrkReads({ url, headers = {} }: Omit<Load, "connections">, duration_ms: number): Promise<number> {
  const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const command = [wrk!, "-t1", "-c32", `-d${Math.max(1, Math.round(duration_ms / 1000))}s`, ...sent, url];
  const child = Bun.spawn(pinned(command, "rest"), { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  const [, count] = /(\d+) requests in/.exec(text) ?? [];
  if (!count || text.includes("Non-2xx")) throw new Error(`wrk on ${url}: ${text}`);
  return Number(count);
}

/** Puts a load on a server until it is disposed of. */
export function startLoad(load: Load): Disposable {
  const command = [process.execPath, `${import.meta.dir}/load.ts`, JSON.stringify(load)];
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if (process.platform === "linux") setPriority(child.pid, constants.priority.PRIORITY_LOW);
  return { [Symbol.dispose]: () => child.kill("SIGKILL") };
}

/** Returns the resident memory in MiB. */
export function memory(pid: number): number {
  const [, kib = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kib) / 1024;
}

/** Returns the processor time of a process in milliseconds, including its exited threads. */
export function processorTime(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10; // Ticks of 10 ms.
}

/** Returns the processor time of the current threads in milliseconds, by thread name. */
export function threadTimes(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const read = (file: string) => readFileSync(`/proc/${pid}/task/${thread}/${file}`, "utf8");
    const name =
      thread === String(pid)
        ? "main"
        : read("comm")
            .trim()
            .replace(/\s*\d+$/, "");
    times.set(name, (times.get(name) ?? 0) + Number(read("schedstat").split(" ")[0]) / 1e6);
  }
  return times;
}

/** Returns the duration of the work in milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Returns the middle of several rounds. */
export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
