import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { createCell } from "./cluster/through-a-spare.ts";
import { type EventStream, type Frame, openStream } from "./event-stream.ts";
import { proxyCanary } from "./proxy-canary.ts";
import { patience_ms, withTimeout } from "./until.ts";

// biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that no type of this suite promises.
export type Json = any;

/** A response as tests use it: JSON is parsed, anything else is text. */
export interface ParsedResponse {
  status: number;
  body: Json;
  headers: Headers;
}

/** Result of a command. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

interface Keys {
  test: string;
  live: string;
}

interface ServerOptions {
  /** Path of another executable than the one under test: one with an injected fault. */
  program?: string;
  environment?: Record<string, string>;
  flags?: string[];
  /** A data directory that the test created, or whose place it prepared. */
  dataDir?: string;
  /** Keys of a data directory that a server has used: they are shown at its first start only. */
  keys?: Keys;
  /** Keeps the default rate limits; otherwise they are off, because suites would wait for them. */
  keepLimits?: boolean;
  /** Verifies the server's certificate, PEM, if the server did not create it itself. */
  ca?: string;
}

export type Runnel = Awaited<ReturnType<typeof startRunnel>>;

/** The executable under test. */
export const executable = process.env.RUNNEL_EXECUTABLE ?? inProject("dist/runnel");

/** Starts the compiled executable as a new user would: in an empty folder, over TLS, with its own data directory. */
export async function startRunnel({
  program = executable,
  environment = {},
  flags = [],
  dataDir: given,
  keepLimits = false,
  ca: givenCa,
  keys: givenKeys,
}: ServerOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), "runnel-e2e-"));
  const dataDir = given ?? join(folder, "data");
  const cwd = join(folder, "empty");
  mkdirSync(cwd);
  const log = join(folder, "log");
  const cell = createCell(environment);
  const env = cleanEnvironment({ ...environment, ...cell?.environment });
  const start = (more: Record<string, string>): Start => ({
    program,
    cwd,
    env: cleanEnvironment(more),
    log,
    dataDir,
    flags,
  });
  const serve = (more = environment) =>
    cell ? startNodes(cell, start({ ...more, ...cell.environment })) : startProcess(start(more));

  let running = await startFirst();
  const keys = givenKeys ?? readKeys(running.line);
  const setupPath = String(running.line.setup_link).replace(/^\w+:\/\/[^/]+/, "");
  if (!keepLimits && !cell) liftLimits(join(dataDir, "runnel.db"));

  /** Seeds a cell with the data of a single machine. */
  async function startFirst() {
    if (!cell) return await serve();
    const { RUNNEL_CLUSTER: _, RUNNEL_CELL: __, ...alone } = cell.environment;
    const { line, child } = await startProcess(start({ ...environment, ...alone }));
    if (!keepLimits) liftLimits(join(dataDir, "runnel.db"));
    child.kill("SIGTERM");
    await child.exited;
    const nodes = await serve();
    return { ...nodes, line: { ...nodes.line, keys: line.keys, setup_link: line.setup_link } };
  }

  const request = async (path: string, init: RequestInit & { key?: string | null } = {}): Promise<Response> => {
    const { key = keys.test, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (key !== null && !headers.has("authorization")) headers.set("authorization", `Bearer ${key}`);
    if (typeof rest.body === "string" && !headers.has("content-type")) headers.set("content-type", "application/json");
    const { spare, child, ca } = running;
    const answer = await fetch(`${running.url}${path}`, {
      ...rest,
      headers,
      redirect: "manual",
      // An idle connection may be closed just when a request is sent on it, and no POST is repeated.
      keepalive: false,
      tls: { ca: givenCa ?? ca },
    });
    if (spare && answer.status === 503) await expectLeader(answer.clone(), child);
    return answer;
  };
  const send = async (method: string, path: string, body?: unknown, key?: string | null): Promise<ParsedResponse> =>
    parseResponse(await request(path, { method, body: body === undefined ? undefined : JSON.stringify(body), key }));
  /** Id of the process that replaced the first one. */
  let successor: number | null = null;
  const kill9 = async (): Promise<void> => {
    if (successor !== null) process.kill(successor, "SIGKILL");
    running.spare?.kill("SIGKILL");
    running.child.kill("SIGKILL");
    await running.child.exited;
  };
  const command = (...args: string[]): Promise<CommandResult> =>
    runCommand([...args, "--data-dir", dataDir], { cwd, env: { ...env, RUNNEL_API_KEY: keys.test } });

  return {
    folder,
    cwd,
    dataDir,
    keys,
    /** The one-time link to the dashboard that the first start printed, at the current address. */
    get setupUrl() {
      return running.url + setupPath;
    },
    get url() {
      return running.url;
    },
    get ca() {
      return givenCa ?? running.ca;
    },
    /** Output of the last start. */
    get greeting() {
      return running.line;
    },
    /** Sends a request with the test key, unless `key` names another one, or null for none. */
    fetch: request,
    get: (path: string, key?: string | null) => send("GET", path, undefined, key),
    post: (path: string, body?: unknown, key?: string | null) => send("POST", path, body, key),
    put: (path: string, body?: unknown, key?: string | null) => send("PUT", path, body, key),
    patch: (path: string, body: unknown) => send("PATCH", path, body),
    delete: (path: string) => send("DELETE", path),
    /** Opens an event stream; by POST if there is a body, otherwise by GET. */
    async stream(
      path: string,
      init: { body?: unknown; after?: string | null; key?: string; onFrame?: (frame: Frame) => void } = {},
    ): Promise<EventStream> {
      const headers: Record<string, string> = { accept: "text/event-stream" };
      if (init.after) headers["last-event-id"] = init.after;
      const body = init.body === undefined ? undefined : JSON.stringify(init.body);
      const open = (signal: AbortSignal) =>
        request(path, { method: body ? "POST" : "GET", body, headers, key: init.key, signal });
      return openStream(open, init.onFrame);
    },
    /** Runs another command of the executable on the same data directory, with the test key. */
    command,
    /** Lets another process take over while this one serves. */
    async replace(): Promise<void> {
      const { code, stdout, stderr } = await command("restart", "--json");
      if (code !== 0) throw new Error(`It was not replaced: ${stderr}\n${readFileSync(log, "utf8")}`);
      successor = JSON.parse(stdout).pid;
    },
    /** Kills the process at once, as a power cut would. */
    kill9,
    /** True if the process has neither exited nor been killed. */
    isAlive: (): boolean => running.child.exitCode === null && running.child.signalCode === null,
    /** Sends SIGTERM or the given signal and returns the exit code. Throws if the process does not exit. */
    async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<number> {
      const { child, spare } = running;
      child.kill(signal);
      const code = await withTimeout(child.exited, `the server ends by ${signal}`);
      spare?.kill("SIGKILL"); // Before the spare takes the lead, because the leader stopped here is restarted here.
      return code;
    },
    signal: (name: NodeJS.Signals): void => running.child.kill(name),
    /** Waits for the process to die by itself, and returns the signal that ended it. */
    async died(): Promise<string | number | null> {
      await withTimeout(running.child.exited, "the server dies by itself");
      return running.child.signalCode;
    },
    /** Starts again on the same data directory, after `kill9` or `stop`; with another environment if given. */
    async restart(environment?: Record<string, string>): Promise<void> {
      running.spare?.kill("SIGKILL");
      running = await serve(environment);
    },
    log: (): string => (existsSync(log) ? readFileSync(log, "utf8") : ""),
    async [Symbol.asyncDispose]() {
      await kill9();
      cell?.forget();
      rmSync(folder, { recursive: true, force: true });
      proxyCanary.expectSilence();
    },
  };
}

/** Runs one command of the executable and waits for its exit. */
export const runCommand = (
  args: string[],
  { cwd = tmpdir(), env = cleanEnvironment({}) }: { cwd?: string; env?: Record<string, string> } = {},
): Promise<CommandResult> => runProgram([executable, ...args], cwd, env);

/** Runs any program and waits for its exit; kills one that takes too long. */
export async function runProgram(
  command: string[],
  cwd: string,
  env: Record<string, string>,
  patience = patience_ms,
): Promise<CommandResult> {
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const timer = setTimeout(() => child.kill("SIGKILL"), patience);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  return { code, stdout, stderr };
}

/** Parses a response for a test. */
export async function parseResponse(response: Response): Promise<ParsedResponse> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
  return { status: response.status, body: isJson ? JSON.parse(text) : text, headers: response.headers };
}

/** Expects the leader to live: where a single machine breaks the connection, a node responds for its dead leader. */
async function expectLeader(answer: Response, leader: Bun.Subprocess): Promise<void> {
  if (!(await answer.text()).includes('"cluster_unavailable"')) return;
  if (await Promise.race([leader.exited.then(() => true), Bun.sleep(5000).then(() => false)]))
    throw new Error("The server died before it answered.");
}

interface Start {
  program: string;
  cwd: string;
  env: Record<string, string>;
  log: string;
  dataDir: string;
  flags: string[];
}

async function startProcess({ program, cwd, env, log, dataDir, flags }: Start) {
  const command = [program, "serve", "--port", "0", "--data-dir", dataDir, "--json", ...flags];
  const child = Bun.spawn(command, { cwd, env, stdin: "ignore", stdout: "pipe", stderr: Bun.file(log) });
  const timer = setTimeout(() => child.kill("SIGKILL"), patience_ms);
  try {
    const line: Json = JSON.parse(await firstLine(child.stdout));
    const ca = line.cacert ? readFileSync(line.cacert, "utf8") : undefined;
    return { child, line, url: line.address as string, ca, spare: null as Bun.Subprocess | null };
  } catch (cause) {
    child.kill("SIGKILL");
    throw new Error(`The server did not start:\n${readFileSync(log, "utf8")}`, { cause });
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a leader on the data directory, and a spare that receives the test's requests. */
async function startNodes(cell: NonNullable<ReturnType<typeof createCell>>, start: Start) {
  await cell.free();
  const port = cell.portOf(start.flags);
  const leader = await startProcess({ ...start, flags: cell.leaderFlags(start.flags, port) });
  const spare = await cell
    .startSpare({ ...start, port, leader: leader.url, leaderDir: start.dataDir })
    .catch((error) => {
      leader.child.kill("SIGKILL");
      throw error;
    });
  return { ...leader, url: spare.url, spare: spare.child };
}

/** Returns the first line that a program prints. The rest is read too, or a full pipe would block the server. */
export function firstLine(output: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  void (async () => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of output) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")));
    }
    reject(new Error(`It ended and had said: ${text}`));
  })();
  return promise;
}

function readKeys(line: Json): Keys {
  if (!line.keys?.test || !line.keys?.live) throw new Error(`The first start showed no keys: ${JSON.stringify(line)}`);
  return line.keys;
}

/** Returns an environment without the caller's settings, and with proxies that must never be used. */
function cleanEnvironment(more: Record<string, string>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^RUNNEL_|^OTEL_|_API_KEY$|_proxy$|^BUN_/i.test(name) && name !== "OLLAMA_BASE_URL",
  );
  return { ...(Object.fromEntries(kept) as Record<string, string>), ...proxyCanary.environment, ...more };
}

function liftLimits(path: string): void {
  const db = new Database(path);
  db.run("PRAGMA busy_timeout = 5000");
  const off = { reads_per_minute: 0, run_creations_per_minute: 0, writes_per_minute: 0, runs_in_progress: 0 };
  db.query("UPDATE projects SET settings = ?").run(JSON.stringify(off));
  db.close();
}
