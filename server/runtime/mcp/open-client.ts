import { build } from "../../lib/build-info.ts";
import { isTransient } from "../../lib/egress-error.ts";
import { unansweredCode } from "./bounded-fetch.ts";
import type { McpLimits } from "./deadline.ts";
import { type Elicit, type McpQuestion, readQuestion, readRequiredQuestion, urlRequiredCode } from "./elicitation.ts";
import { beginning, McpFailure } from "./mcp-failure.ts";
import { createProgressReader, type McpLog, type McpProgress, readLog } from "./progress.ts";
import type { Client, ElicitResult, jsonSchemaValidator, RequestOptions } from "./sdk.ts";

/** Receivers of the messages of a server during a call. */
export interface CallHooks {
  elicit?: Elicit;
  onProgress?(progress: McpProgress): void;
  /** Not called for `stdio:` servers, whose messages are in the server's log: they could be about another run. */
  onLog?(log: McpLog): void;
  /** The server's list of tools is another one now. */
  onListChanged?(): void;
}

export type Operation = McpLimits & { hooks?: CallHooks };

/** Work with a server's client; the options apply to each of its requests. */
export type Work<T> = (client: Client, options: RequestOptions) => Promise<T>;

// The server's output schemas are not compiled, because that would run code built from untrusted input.
const unchecked: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

interface ClientSetting {
  /** First id of its requests. */
  firstId?: number;
  /** Capabilities of the server, as it declared them when its session began. */
  capabilities?: ReturnType<Client["getServerCapabilities"]>;
  /** Asks the user what the server asks; absent: the server is told that nobody can be asked. */
  elicit?: Elicit;
  onListChanged?(): void;
  onLog?(log: McpLog): void;
}

/** Opens a client. Other requests of the server (sampling, roots) are refused, because they are not declared. */
export async function openClient({
  firstId = 0,
  capabilities,
  elicit,
  onListChanged,
  onLog,
}: ClientSetting): Promise<Client> {
  const sdk = await import("./sdk.ts");
  const client = new sdk.Client(
    { name: "runnel", version: build.version },
    { capabilities: elicit ? { elicitation: { form: {}, url: {} } } : {}, jsonSchemaValidator: unchecked },
  );
  if (elicit)
    client.setRequestHandler(sdk.ElicitRequestSchema, async ({ params }, { signal }) => {
      const question = readQuestion(params);
      if (typeof question === "string") throw new sdk.McpError(invalidParams, question);
      return elicit(question, signal) as Promise<ElicitResult>;
    });
  if (onListChanged) client.setNotificationHandler(sdk.ToolListChangedNotificationSchema, onListChanged);
  if (onLog)
    client.setNotificationHandler(sdk.LoggingMessageNotificationSchema, ({ params }) => {
      const log = readLog(params);
      if (log) onLog(log);
    });
  // The SDK counts from 0 in each exchange: concurrent calls in one session would get each other's responses.
  return Object.assign(client, {
    _requestMessageId: firstId,
    ...(capabilities && { _serverCapabilities: capabilities }),
  });
}

const invalidParams = -32_602;

/** Asks the user of an operation. The time of the call stands meanwhile. */
export async function askUser({ hooks, clock }: Operation, question: McpQuestion, signal?: AbortSignal) {
  // Without a user the server gets the answer of one who closes the form.
  if (!hooks?.elicit) return { action: "cancel" } as const;
  const goOn = clock?.pause();
  try {
    return await hooks.elicit(question, signal);
  } finally {
    goOn?.();
  }
}

/**
 * Returns the only operation. With several, a question of the server cannot be assigned to one of them, and no user may
 * be asked the question of another one.
 */
export function onlyOne(operations: ReadonlySet<Operation>): Operation {
  const [one, ...others] = operations;
  if (one && others.length === 0) return one;
  throw new Error("The question cannot be assigned to one of the calls that are open.");
}

// Set by the protocol itself; tools must not choose a session.
const ownHeaders = new Set(["accept", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id"]);

const withoutOwn = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ownHeaders.has(name.toLowerCase())));

const noReconnection = {
  maxRetries: 0,
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
};

/** Returns the options of a transport to a server with these headers. */
export const transportOptions = (headers: Record<string, string>) => ({
  requestInit: { headers: withoutOwn(headers) },
  reconnectionOptions: noReconnection,
});

// The longest that a timer takes. The deadline of the operation ends its requests before.
export const longest_ms = 2 ** 31 - 1;

/** Returns the options of an operation's requests. */
export function requestOptions({ timeout_ms, clock, hooks }: Operation, signal: AbortSignal): RequestOptions {
  if (!clock) return { signal, timeout: timeout_ms };
  const read = createProgressReader();
  const onprogress = (notification: McpProgress) => {
    const progress = read(notification);
    if (!progress) return;
    clock.restart();
    hooks?.onProgress?.(progress);
  };
  return { signal, timeout: longest_ms, onprogress };
}

/** Returns the timeout of each HTTP response of an operation. */
export const responseTimeout = ({ timeout_ms, clock }: Operation): number => (clock ? longest_ms : timeout_ms);

/** True for an error that the server itself answered to a request. */
export async function isReply(error: unknown): Promise<boolean> {
  const { McpError } = await import("./sdk.ts");
  return error instanceof McpError && error.code !== unansweredCode;
}

/** True for a failure of the connection or of the server's host, after which the same question may be answered. */
export async function isPassing(error: unknown): Promise<boolean> {
  if (error instanceof McpFailure) return isTransient(error.code);
  const { McpError, StreamableHTTPError } = await import("./sdk.ts");
  if (error instanceof StreamableHTTPError) {
    const { code = 0 } = error;
    return code === 408 || code === 429 || code >= 500;
  }
  return error instanceof McpError ? error.code === unansweredCode : error instanceof SyntaxError;
}

/** Describes a failure in our words, with at most a short quote of the server. */
export async function failureOf(error: unknown): Promise<McpFailure> {
  if (error instanceof McpFailure) return error;
  const { McpError, StreamableHTTPError } = await import("./sdk.ts");
  if (error instanceof McpError) {
    if (error.code === unansweredCode)
      return new McpFailure("mcp_protocol_error", "The server ended its answer without a result.", "sent");
    const question = error.code === urlRequiredCode ? readRequiredQuestion(error.data) : null;
    return new McpFailure("mcp_error", beginning(`The server answered: ${error.message}`, 1000), "answered", {
      question,
    });
  }
  if (error instanceof StreamableHTTPError && (error.code ?? 0) > 0) {
    const detail = error.message.replace(/^Streamable HTTP error: (Error POSTing to endpoint: )?/, "").trim();
    const shown = beginning(`The server returned status ${error.code}${detail && `: ${detail}`}`, 300);
    return new McpFailure("mcp_unreachable", shown);
  }
  if (error instanceof StreamableHTTPError || /protocol version/.test(String(error)))
    return new McpFailure("mcp_protocol_error", beginning((error as Error).message, 300));
  return new McpFailure("mcp_protocol_error", "What the server sent is no MCP message.");
}
