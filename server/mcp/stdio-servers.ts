import type { Log } from "../lib/log.ts";
import { startFault, startPatiently } from "../lib/start-patiently.ts";
import { McpFailure } from "./mcp-failure.ts";
import { failureOf, openClient, type Work } from "./open-client.ts";
import type { Client } from "./sdk.ts";
import type { StdioServer } from "./stdio-config.ts";
import { type McpLimits, within } from "./within.ts";

interface Running {
  client: Client;
  /** Rejects when the process is gone. */
  gone: Promise<never>;
}

interface Setting {
  servers: Record<string, StdioServer>;
  log: Pick<Log, "info" | "warn">;
  /** How long a server without work is kept. */
  idle_ms?: number;
}

/** The processes of this thread. */
export type StdioServers = ReturnType<typeof createStdioServers>;

const startMs = 30_000;
const messageBytes = 4 << 20;
const stderrBytes = 16_384;

/** Work with the operator's programs: each is started when it is needed, and again after it ended. */
export function createStdioServers({ servers, log, idle_ms = 300_000 }: Setting) {
  const running = new Map<string, Promise<Running>>();
  const users = new Map<string, number>();
  const timers = new Map<string, Timer>();
  const closing = new AbortController();

  function perform<T>(name: string, limits: McpLimits, work: Work<T>): Promise<T> {
    return within(limits, async (signal) => {
      take(name);
      try {
        const { client, gone } = await processOf(name);
        return await Promise.race([gone, work(client, { signal, timeout: limits.timeout_ms })]);
      } catch (error) {
        throw await failureOf(error);
      } finally {
        release(name);
      }
    });
  }

  function processOf(name: string): Promise<Running> {
    const server = Object.hasOwn(servers, name) ? servers[name] : undefined;
    if (!server)
      throw new McpFailure("mcp_unreachable", `There is no server stdio:${name}; the operator sets them up.`);
    const known = running.get(name);
    if (known) return known;
    const forget = () => void (running.get(name) === started && running.delete(name));
    const started = start(name, server, forget);
    started.catch(forget);
    running.set(name, started);
    return started;
  }

  async function start(name: string, server: StdioServer, forget: () => void): Promise<Running> {
    try {
      return await startPatiently(() => open(name, server, forget), closing.signal);
    } catch (error) {
      log.warn("MCP server did not start", { server: name, error });
      const fault = startFault(error);
      throw new McpFailure(
        "mcp_unreachable",
        `The process of stdio:${name} did not start${fault ? ` (${fault})` : ""}.`,
      );
    }
  }

  async function open(name: string, { command, args, env }: StdioServer, forget: () => void): Promise<Running> {
    const { StdioClientTransport } = await import("./sdk.ts");
    const client = await openClient();
    const gone = Promise.withResolvers<never>();
    gone.promise.catch(() => {}); // It may go while nobody uses it.
    const transport = new StdioClientTransport({ command, args, env, stderr: "pipe", maxBufferSize: messageBytes });
    logStderr(name, transport.stderr);
    try {
      await client.connect(transport, { timeout: startMs });
    } catch (error) {
      void client.close();
      throw error;
    }
    client.onclose = () => {
      forget();
      gone.reject(new McpFailure("connection_lost", `The process of stdio:${name} ended before it answered.`));
    };
    log.info("MCP server started", { server: name, process: transport.pid });
    return { client, gone: gone.promise };
  }

  /** What the program complains of, up to a bound: it may do so without end. */
  function logStderr(name: string, stderr: NodeJS.EventEmitter | null): void {
    let left = stderrBytes;
    stderr?.on("data", (chunk: Buffer) => {
      if (left <= 0) return; // Still read: a full pipe would hold the program up.
      const text = chunk.subarray(0, left).toString();
      left -= chunk.length;
      log.warn("MCP server wrote", { server: name, text: left > 0 ? text : `${text} … [no more of it]` });
    });
  }

  function take(name: string): void {
    clearTimeout(timers.get(name));
    users.set(name, (users.get(name) ?? 0) + 1);
  }

  function release(name: string): void {
    const left = users.get(name)! - 1;
    if (left > 0) return void users.set(name, left);
    users.delete(name);
    const timer = setTimeout(() => void stop(name), idle_ms);
    timer.unref();
    timers.set(name, timer);
  }

  async function stop(name: string): Promise<void> {
    const started = running.get(name);
    running.delete(name);
    clearTimeout(timers.get(name));
    timers.delete(name);
    await started?.then(({ client }) => client.close()).catch(() => {});
  }

  /** Ends the processes: asked, and a few seconds later by force. */
  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...running.keys()].map(stop));
  }

  return { perform, close };
}
