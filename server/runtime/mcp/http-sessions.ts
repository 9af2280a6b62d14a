import type { Egress } from "../../lib/egress.ts";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { withDeadline } from "./deadline.ts";
import { type AuthorizationRefusal, McpFailure } from "./mcp-failure.ts";
import {
  askUser,
  failureOf,
  type Operation,
  openClient,
  requestOptions,
  responseTimeout,
  transportOptions,
  type Work,
} from "./open-client.ts";
import type { Client } from "./sdk.ts";
import { createSessionStream, type SessionStream } from "./session-stream.ts";

/** Address of a server, `https://…` or `stdio:<name>`, and the headers of every request to it. */
export interface McpServer {
  url: string;
  headers: Record<string, string>;
}

/** A session as opened by the server; the id is empty if it keeps no sessions. */
interface Session {
  id: string;
  version: string;
  capabilities: ServerCapabilities;
  /** Returns the first request id of one more exchange: none may be repeated in a session. */
  nextId(): number;
  /** Its calls that are open. */
  operations: Set<Operation>;
  stream: SessionStream | null;
}

type ServerCapabilities = NonNullable<ReturnType<Client["getServerCapabilities"]>>;
type Transport = InstanceType<typeof import("./sdk.ts").StreamableHTTPClientTransport>;

const startMs = 30_000;
const endMs = 5_000;
// More than one exchange can need.
const idsPerExchange = 100;

/**
 * Calls servers over Streamable HTTP, with one session for each server and set of headers. `elicits`: servers are told
 * that users can be asked.
 */
export function createHttpSessions(egress: Egress, { elicits }: { elicits: boolean }) {
  const sessions = new Map<string, { server: McpServer; started: Promise<Session> }>();
  const farewells = new Set<Promise<unknown>>();
  const closing = new AbortController();

  function perform<T>(server: McpServer, operation: Operation, work: Work<T>): Promise<T> {
    return withDeadline(operation, async (signal) => {
      const attempt = async (isSecond: boolean): Promise<T> => {
        const started = sessionOf(server);
        const session = await started;
        try {
          return await exchange(server, session, { ...operation, signal }, work);
        } catch (error) {
          // The server has lost the session, so it did not run the call.
          if (isSecond || session.id === "" || !(await isSessionLost(error))) throw await failureOf(error);
          forget(server, started);
          return attempt(true);
        }
      };
      return attempt(false);
    });
  }

  function sessionOf(server: McpServer): Promise<Session> {
    const known = sessions.get(keyOf(server));
    if (known) return known.started;
    // Independent of this call's limits, because other calls wait for the same session.
    const limits = { timeout_ms: startMs, signal: closing.signal };
    const started = exchange(server, null, limits, async (client, _options, { sessionId, protocolVersion }) => ({
      id: sessionId ?? "",
      version: protocolVersion!,
      capabilities: client.getServerCapabilities() ?? {},
      nextId: createIds(),
      operations: new Set<Operation>(),
      stream: null,
    })).catch(async (error) => {
      forget(server, started);
      throw await failureOf(error);
    });
    sessions.set(keyOf(server), { server, started });
    return started;
  }

  function forget(server: McpServer, started: Promise<Session>): void {
    if (sessions.get(keyOf(server))?.started === started) sessions.delete(keyOf(server));
  }

  /** Runs work with a client and a transport of its own, so that only its own connections end with it. */
  function exchange<T>(
    { url, headers }: McpServer,
    session: Session | null,
    operation: Operation,
    work: (...args: [...Parameters<Work<T>>, Transport]) => Promise<T>,
  ): Promise<T> {
    return withDeadline(operation, async (signal, fail) => {
      const { StreamableHTTPClientTransport } = await import("./sdk.ts");
      const timeout_ms = responseTimeout(operation);
      const connections = new AbortController();
      let refusal: AuthorizationRefusal | undefined;
      const refused = (found: AuthorizationRefusal) => {
        refusal = found;
      };
      const transport = new StreamableHTTPClientTransport(new URL(url), {
        fetch: createBoundedFetch({ egress, timeout_ms, fail, refused, signal: connections.signal, farewell }),
        // With an id, even an empty one, the SDK's client resumes the session.
        ...(session && { sessionId: session.id }),
        ...transportOptions(headers),
      });
      const client = await openClient({
        firstId: session?.nextId(),
        capabilities: session?.capabilities,
        ...(elicits && { elicit: (question, until) => askUser(operation, question, until) }),
        onListChanged: operation.hooks?.onListChanged,
        onLog: operation.hooks?.onLog,
      });
      const leave = () => {
        session?.operations.delete(operation);
        void client.close();
        connections.abort();
      };
      // In a microtask, so that the SDK's client sends the cancellation first.
      signal.addEventListener("abort", () => queueMicrotask(leave));
      try {
        await client.connect(transport, { timeout: operation.timeout_ms });
        if (session) transport.setProtocolVersion(session.version);
        if (session && operation.hooks) {
          session.operations.add(operation);
          await listen({ url, headers }, session);
        }
        return await work(client, requestOptions(operation, signal), transport);
      } catch (error) {
        // A refusal while the tool is at work is no reason to call it again.
        if (!refusal || (error instanceof McpFailure && error.request === "sent")) throw error;
        const { code, message, request } = await failureOf(error);
        throw new McpFailure(code, message, request, { refusal });
      } finally {
        leave();
      }
    });
  }

  /** Waits for the stream on which many servers ask and log. Without sessions there is none. */
  async function listen(server: McpServer, session: Session): Promise<void> {
    if (!elicits || session.id === "") return;
    session.stream ??= createSessionStream({ egress, server, session, closing: closing.signal, farewell });
    await session.stream.listen();
  }

  function farewell(work: Promise<unknown>): void {
    farewells.add(work);
    void work.then(() => farewells.delete(work));
  }

  async function close(): Promise<void> {
    const known = [...sessions.values()];
    sessions.clear();
    closing.abort();
    await Promise.all(farewells);
    await Promise.allSettled(known.map(async ({ server, started }) => end(server, await started)));
  }

  async function end(server: McpServer, session: Session): Promise<void> {
    const limits = { timeout_ms: endMs, signal: new AbortController().signal };
    if (session.id !== "")
      await exchange(server, session, limits, (_client, _options, transport) => transport.terminateSession());
  }

  return { perform, close };
}

const keyOf = ({ url, headers }: McpServer): string => JSON.stringify([url, headers]);

function createIds(): () => number {
  let ids = 0;
  return () => {
    ids += idsPerExchange;
    return ids;
  };
}

/**
 * True if the server does not know the session any more. The specification says 404; servers that have restarted also
 * answer 400 and speak of the session or of a missing initialization.
 */
async function isSessionLost(error: unknown): Promise<boolean> {
  const { StreamableHTTPError } = await import("./sdk.ts");
  if (!(error instanceof StreamableHTTPError)) return false;
  return error.code === 404 || (error.code === 400 && /session|initializ/i.test(error.message));
}
