import type { CloudFields } from "../../domain/cloud-connection.ts";
import type { ConnectionAuth } from "../../domain/connection-auth.ts";
import type { RunErrorCode } from "../../domain/errors.ts";
import type { FinishReason, ModelRequest, ModelUsage, RequestAdjustment } from "../../domain/model-call.ts";
import type { Provider } from "../../domain/providers.ts";
import type { RequestOutcome } from "../../lib/request-outcome.ts";

export type {
  AssistantPart,
  FinishReason,
  JsonSchema,
  ModelRequest,
  ModelSettings,
  ModelTool,
  ModelUsage,
  PromptDocument,
  PromptImage,
  PromptMessage,
  RequestAdjustment,
  ScriptEntry,
} from "../../domain/model-call.ts";

/**
 * Events of a call. `part` numbers the parts of the answer from 0; deltas of one part arrive in order. A stream ends
 * with exactly one `done` or `error`: adapters never throw, also when aborted (then `error` with `aborted: true`).
 */
export type ModelEvent =
  | { type: "delta"; part: number; kind: "output" | "reasoning"; text: string }
  | { type: "tool_call"; part: number; name: string; arguments: string; metadata?: Record<string, unknown> }
  | { type: "metadata"; part: number; metadata: Record<string, unknown> }
  | { type: "done"; finish: FinishReason; usage: ModelUsage }
  | { type: "error"; error: ModelError; usage: ModelUsage };

export interface ModelError {
  code: Extract<
    RunErrorCode,
    "model_error" | "model_incomplete" | "model_rate_limited" | "model_not_available" | "context_length_exceeded"
  >;
  /** A sentence without secrets: no key, no URL with credentials. */
  message: string;
  retryable: boolean;
  /** Delay from the provider's `Retry-After`, in milliseconds. */
  retry_after_ms: number | null;
  aborted: boolean;
  request: RequestOutcome;
  /** True if the server, or a proxy, says that it is not ready: retried like an unreachable server. */
  unready?: boolean;
  /** True if it was aborted because the provider sent nothing for too long. */
  silent?: boolean;
  /** True if a content filter of the provider refused the prompt or stopped the answer. */
  filtered?: boolean;
  /** True if the server refused the key or token, and not what it may do. */
  refuses_credentials?: boolean;
  /** True if the server refused the response format. */
  refuses_format?: boolean;
  /** Answer of the model that the server could not read, such as a malformed tool call. */
  unread_answer?: string;
}

/** Receives details of an answer that no event has, as they arrive. */
export interface AnswerObserver {
  /** Called for each chunk of bytes: the provider is alive. */
  onByte(): void;
  /** Called with the number of further UTF-16 code units in names and arguments of tool calls. */
  onArguments(length: number): void;
  /** Called before an answer with the differences between the request and what was asked for; the last call counts. */
  onAdjustments?(adjustments: readonly RequestAdjustment[]): void;
}

export interface Model {
  stream(request: ModelRequest, signal: AbortSignal, observer?: AnswerObserver): AsyncIterable<ModelEvent>;
}

export const unknownUsage: ModelUsage = {
  input_tokens: null,
  output_tokens: null,
  cached_input_tokens: null,
  reasoning_tokens: null,
};

/** Connection to a provider. Plain data: the main thread resolves it, a worker opens it. */
export interface Connection extends CloudFields {
  /** Name of the connection: the provider's own name, or the part after `openai_compatible/`. */
  name: string;
  provider: Provider;
  base_url: string | null;
  api_key: string | null;
  /** Maximum number of concurrent calls; absent: unlimited. */
  max_concurrent?: number;
  /** Milliseconds that the server may be silent while it answers; absent: five minutes. */
  idle_timeout_ms?: number;
  /**
   * Asked if its models cannot answer, for agents with one model: full names of models, or prefixes of connections that
   * have the same models.
   */
  fallbacks?: string[];
  /** How it gets access tokens in place of a key. */
  auth?: ConnectionAuth;
  /** Name of the source of its tokens on the main thread; `api_key` is the token then, once there is one. */
  token_source?: string;
}
