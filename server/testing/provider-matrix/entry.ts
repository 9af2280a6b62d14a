import type { ConnectionProvider } from "../../domain/providers.ts";
import type { ModelUsage } from "../../runtime/models/model.ts";

/** One answer of a model, in no provider's format. */
export interface Answer {
  reasoning?: string;
  text?: string;
  calls?: { name: string; args: object }[];
  finish: "stop" | "tool_calls" | "length" | "content_filter";
}

/** A response that is not an answer. */
interface Refused {
  status: number;
  headers?: Record<string, string>;
  body: unknown;
}

/** One provider in the matrix: the documented format of its answers and errors, written by hand. */
export interface MatrixEntry {
  /** Name of its row. */
  name: string;
  provider: ConnectionProvider;
  model: string;
  /** Public documentation of the format. */
  source: string;
  /** Returns the body of a streamed response, as server-sent events. */
  stream(answer: Answer): string;
  overflow: Refused;
  rate_limit: Refused;
  /** Delay in `rate_limit`, in milliseconds. */
  retry_after_ms: number | null;
  outage: Refused;
  /** Usage of each streamed answer. */
  usage: ModelUsage;
  /** Field of the request that has the stop sequences; null if the API has none. */
  stop_field: string | null;
  /** False if the API neither shows reasoning nor takes it back. */
  has_reasoning: boolean;
}
