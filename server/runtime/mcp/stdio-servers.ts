import { entryOf } from "../../lib/collections.ts";
import { createStreamMask } from "../../lib/exact-masks.ts";
import type { Log } from "../../lib/log.ts";
import { maskTruncated } from "../../lib/redact.ts";
import { describeSpawnError, spawnWithRetry } from "../../lib/spawn-with-retry.ts";
import { exactFields } from "./bounded-fetch.ts";
import { withDeadline } from "./deadline.ts";
import { McpFailure } from "./mcp-failure.ts";
import { askUser, failureOf, type Operation, onlyOne, openClient, requestOptions, type Work } from "./open-client.ts";
import { plainText } from "./plain-text.ts";
import { createProgramLog } from "./program-log.ts";
import type { Client } from "./sdk.ts";
import type { StdioServer } from "./stdio-config.ts";

interface Running {
  client: Client;
  /** Its calls that are open. */
  operations: Set<Operation>;
  /** Rejects when the process has exited. */
  gone: Promise<never>;
  /** True once it has exited, slightly before {@link gone} rejects with the reason. */
  isGone(): boolean;
}

interface Setting {
  servers: Record<string, StdioServer>;
  log: Log;
  /** Milliseconds that an idle server is kept. */
  idle_ms?: number;
  /** Resolves once this node holds its lease, because a program may have side effects. */
  leading?(signal: AbortSignal): Promise<void>;
  /** Servers are told that users can be asked. */
  elicits?: boolean;
}

/** Returns the last lines of a program's stderr, as the end of a message. */
type Words = () => Promise<string>;

/** The processes of this thread. */
export type StdioServers = ReturnType<typeof createStdioServers>;

const startMs = 30_000;
const messageBytes = 4 << 20;
const lastWords = { heard: 16_384, lines: 5, characters: 1000, wait_ms: 500 };

/** Runs the operator's programs: each is started on first use and restarted after it exits. */
export function createStdioServers({
  servers,
  log,
  idle_ms = 300_000,
  leading = async () => {},
  elicits = false,
}: Setting) {
  const running = new Map<string, Promise<Running>>();
  const users = new Map<string, number>();
  const timers = new Map<string, Timer>();
  const closing = new AbortController();

  function perform<T>(name: string, given: Operation, work: Work<T>): Promise<T> {
    return withDeadline(given, async (signal) => {
      take(name);
      const operation = { ...given, signal };
      let operations: Set<Operation> | null = null;
      try {
        const process = await processOf(name);
        const { client, gone, isGone } = process;
        await leading(signal);
        operations = process.operations.add(operation);
        const done = work(client, requestOptions(operation, signal));
        return await Promise.race([gone, done.catch((error) => (isGone() ? gone : Promise.reject(error)))]);
      } catch (error) {
        throw await failureOf(error);
      } finally {
        operations?.delete(operation);
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
    let words: Words = async () => "";
    const setOutputReader = (heard: Words) => {
      words = heard;
    };
    try {
      return await spawnWithRetry(() => open(name, server, forget, setOutputReader), closing.signal);
    } catch (error) {
      // Only its message, because a worker's log takes plain data.
      log.warn("MCP server did not start", {
        server: name,
        error: error instanceof Error ? error.message : `${error}`,
      });
      const fault = describeSpawnError(error);
      const why = `${fault ? ` (${fault})` : ""}.${await words()}`;
      throw new McpFailure("mcp_unreachable", `The process of stdio:${name} did not start${why}`);
    }
  }

  async function open(
    name: string,
    { command, args, env }: StdioServer,
    forget: () => void,
    hear: (words: Words) => void,
  ): Promise<Running> {
    const { StdioClientTransport } = await import("./sdk.ts");
    const operations = new Set<Operation>();
    const said = createProgramLog({ name, log, secrets: Object.values(env) });
    const client = await openClient({
      ...(elicits && { elicit: (question, signal) => askUser(onlyOne(operations), question, signal) }),
      onListChanged: () => {
        for (const { hooks } of operations) hooks?.onListChanged?.();
      },
      // Not part of a run: the message could be about the call of another one, and of another project.
      onLog: said.say,
    });
    const gone = Promise.withResolvers<never>();
    gone.promise.catch(() => {}); // It may exit while it is unused.
    const transport = new StdioClientTransport({ command, args, env, stderr: "pipe", maxBufferSize: messageBytes });
    keepExact(transport);
    const words = listenTo(transport.stderr, said, Object.values(env));
    hear(words);
    try {
      await client.connect(transport, { timeout: startMs });
    } catch (error) {
      void client.close();
      throw error;
    }
    let isGone = false;
    client.onclose = async () => {
      isGone = true;
      forget();
      const message = `The process of stdio:${name} ended before it answered.${await words()}`;
      gone.reject(new McpFailure("connection_lost", message, "sent"));
    };
    log.info("MCP server started", { server: name, process: transport.pid });
    return { client, operations, gone: gone.promise, isGone: () => isGone };
  }

  /** Masks exact numbers before the transport parses them; the SDK has no hook for that. */
  function keepExact(transport: object): void {
    const { _readBuffer: buffer } = transport as { _readBuffer: { append(chunk: Buffer): void } };
    const lines = createStreamMask("line", exactFields, messageBytes);
    const append = buffer.append.bind(buffer);
    buffer.append = (chunk) => {
      const ready = lines.push(chunk);
      if (ready.length > 0) append(Buffer.from(ready));
    };
  }

  /** Logs a program's stderr; returns a getter of its last lines. */
  function listenTo(
    stderr: NodeJS.EventEmitter | null,
    said: ReturnType<typeof createProgramLog>,
    secrets: readonly string[],
  ): Words {
    let last = "";
    const ended = new Promise<void>((resolve) => stderr?.once("end", resolve));
    stderr?.once("end", said.end);
    stderr?.on("data", (chunk: Buffer) => {
      last = `${last}${chunk.toString()}`.slice(-lastWords.heard);
      said.hear(chunk);
    });
    return async () => {
      // Exit and stderr arrive separately.
      await Promise.race([ended, Bun.sleep(lastWords.wait_ms)]);
      // Secrets are hidden before truncation, because a truncated secret would not be found. The end may be one, too.
      const lines = maskTruncated(plainText(last), secrets).trim().split("\n").slice(-lastWords.lines);
      const output = lines.join("\n").slice(-lastWords.characters).toWellFormed();
      return output && ` It wrote: ${output}`;
    };
  }

  function take(name: string): void {
    clearTimeout(timers.get(name));
    users.set(name, (users.get(name) ?? 0) + 1);
  }

  function release(name: string): void {
    const left = entryOf(users, name) - 1;
    if (left > 0) return void users.set(name, left);
    users.delete(name);
    const timer = setTimeout(() => void stop(name), idle_ms).unref();
    timers.set(name, timer);
  }

  async function stop(name: string): Promise<void> {
    const started = running.get(name);
    running.delete(name);
    clearTimeout(timers.get(name));
    timers.delete(name);
    await started?.then(({ client }) => client.close()).catch(() => {});
  }

  /** Stops the processes, after a few seconds by force. */
  async function close(): Promise<void> {
    closing.abort();
    await Promise.all([...running.keys()].map(stop));
  }

  return { perform, close };
}
