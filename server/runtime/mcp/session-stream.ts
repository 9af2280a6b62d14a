import type { Egress } from "../../lib/egress.ts";
import { onAbort } from "../../lib/on-abort.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { askUser, longest_ms, type Operation, onlyOne, openClient, transportOptions } from "./open-client.ts";
import type { Client } from "./sdk.ts";

// Servers that answer nothing before their first message are not waited for longer.
const listen_ms = 300;
const again = { first_ms: 500, longest_ms: 30_000 };

/** The session that the stream belongs to. */
interface Listening {
  id: string;
  version: string;
  capabilities: NonNullable<ReturnType<Client["getServerCapabilities"]>>;
  /** Its calls that are open. */
  operations: ReadonlySet<Operation>;
  /** Returns the first id for requests of one more client. */
  nextId(): number;
}

interface Setting {
  egress: Egress;
  server: { url: string; headers: Record<string, string> };
  session: Listening;
  /** Closes the stream for ever. */
  closing: AbortSignal;
  farewell(work: Promise<unknown>): void;
  /** Does something after a time. */
  later?(work: () => void, ms: number): void;
}

export type SessionStream = ReturnType<typeof createSessionStream>;

/**
 * The stream of a session, on which many servers ask and log. A server that answers 405 has none. After every other end
 * it is requested again: by the next call, and while calls are open, after a pause that grows until a message comes.
 */
export function createSessionStream({ egress, server, session, closing, farewell, later = wait }: Setting) {
  const { operations } = session;
  /** Resolves when the server can send what it assigns to no call; null: not requested, or ended. */
  let listening: Promise<void> | null = null;
  let ends = 0;

  async function open(): Promise<void> {
    const { StreamableHTTPClientTransport } = await import("./sdk.ts");
    const connections = new AbortController();
    const boundedFetch = createBoundedFetch({
      egress,
      timeout_ms: longest_ms,
      fail: () => {}, // Calls do not depend on it.
      signal: connections.signal,
      listens: () => operations.size > 0,
      farewell,
    });
    let isRefused = false;
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      async fetch(url, init) {
        const response = await boundedFetch(url, init);
        isRefused = response.status === 405;
        return response;
      },
      sessionId: session.id,
      ...transportOptions(server.headers),
    });
    const client = await openClient({
      firstId: session.nextId(),
      capabilities: session.capabilities,
      elicit: async (question, until) => askUser(onlyOne(operations), question, until),
      onListChanged: () => {
        for (const { hooks } of operations) hooks?.onListChanged?.();
      },
      onLog: (log) => {
        const [one, ...others] = operations;
        if (others.length === 0) one?.hooks?.onLog?.(log);
      },
    });
    if (closing.aborted) return;
    const leave = () => {
      release();
      void client.close();
      connections.abort();
    };
    const release = onAbort([closing], leave);
    const end = () => {
      leave();
      listening = null;
      const goOn = () => void (operations.size > 0 && !closing.aborted && listen());
      later(goOn, Math.min(again.longest_ms, again.first_ms * 2 ** ends++));
    };
    // The SDK says so when the stream has ended.
    client.onerror = ({ message }) => void (message.startsWith("Maximum reconnection attempts") && end());
    try {
      await client.connect(transport);
      transport.setProtocolVersion(session.version);
      const { onmessage } = transport;
      transport.onmessage = (...message) => {
        ends = 0;
        onmessage?.(...message);
      };
      // Without an id it begins a stream.
      await transport.resumeStream("");
    } catch {
      return end();
    }
    if (isRefused) leave();
  }

  /** Requests the stream unless it is open, and waits for it, because the server drops what it sends before. */
  async function listen(): Promise<void> {
    listening ??= Promise.race([open().catch(() => {}), Bun.sleep(listen_ms)]);
    await listening;
  }

  return { listen };
}

const wait = (work: () => void, ms: number): void => void setTimeout(work, ms).unref();
