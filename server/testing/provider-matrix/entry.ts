import type { ConnectionProvider } from "../../domain/providers.ts";
import type { Connection, ModelUsage } from "../../runtime/models/model.ts";

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
  /** Fields of its connection beside the address and the key. */
  connection?: Partial<Connection>;
  /** Returns the body of a streamed response: server-sent events, or the frames of AWS's binary event stream. */
  stream(answer: Answer): string | Uint8Array[];
  /** Answer to a schema, where the model does not give it as a text. */
  structured?(output: object): Answer;
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
