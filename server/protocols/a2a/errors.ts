import type { AppError } from "../../domain/errors.ts";
import type { ApiResponse } from "../../http/internal-client.ts";

/** Errors of the protocol: JSON-RPC code, HTTP status, and the name of that status. */
const kinds = {
  TASK_NOT_FOUND: [-32001, 404, "NOT_FOUND"],
  TASK_NOT_CANCELABLE: [-32002, 400, "FAILED_PRECONDITION"],
  PUSH_NOTIFICATION_NOT_SUPPORTED: [-32003, 400, "FAILED_PRECONDITION"],
  UNSUPPORTED_OPERATION: [-32004, 400, "FAILED_PRECONDITION"],
  CONTENT_TYPE_NOT_SUPPORTED: [-32005, 400, "INVALID_ARGUMENT"],
  VERSION_NOT_SUPPORTED: [-32009, 400, "FAILED_PRECONDITION"],
  METHOD_NOT_FOUND: [-32601, 404, "NOT_FOUND"],
  INVALID_PARAMS: [-32602, 400, "INVALID_ARGUMENT"],
  INVALID_REQUEST: [-32600, 400, "INVALID_ARGUMENT"],
  UNAUTHENTICATED: [-32000, 401, "UNAUTHENTICATED"],
  PERMISSION_DENIED: [-32000, 403, "PERMISSION_DENIED"],
  REQUEST_TIMEOUT: [-32000, 408, "DEADLINE_EXCEEDED"],
  RESOURCE_EXHAUSTED: [-32000, 429, "RESOURCE_EXHAUSTED"],
  UNAVAILABLE: [-32000, 503, "UNAVAILABLE"],
  INTERNAL: [-32603, 500, "INTERNAL"],
} as const;
type Kind = keyof typeof kinds;

export class A2aError extends Error {
  constructor(
    readonly kind: Kind,
    message: string,
    /** The API's error code, if the API refused. */
    readonly code?: string,
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  get status(): number {
    return kinds[this.kind][1];
  }

  private get details() {
    const metadata = this.code === undefined ? {} : { metadata: { code: this.code } };
    return [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: this.kind,
        domain: "a2a-protocol.org",
        ...metadata,
      },
    ];
  }

  /** Returns the error for JSON-RPC. */
  rpc() {
    return { code: kinds[this.kind][0], message: this.message, data: this.details };
  }

  /** Returns the error for the HTTP binding. */
  http() {
    const [, code, status] = kinds[this.kind];
    return { error: { code, status, message: this.message, details: this.details } };
  }
}

const byStatus: Record<number, Kind> = {
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "TASK_NOT_FOUND",
  408: "REQUEST_TIMEOUT",
  415: "CONTENT_TYPE_NOT_SUPPORTED",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  507: "UNAVAILABLE",
};

/** Maps an API error to a protocol error; `otherwise` is for statuses that have no kind of their own. */
export function toA2aError({ status, body, headers }: ApiResponse, otherwise: Kind = "INVALID_PARAMS"): A2aError {
  const { message, code } = body.error;
  // The same message is in flight: the client can retry in a moment.
  const kind = code === "idempotency_in_progress" ? "UNAVAILABLE" : (byStatus[status] ?? otherwise);
  return new A2aError(kind, message, code, Number(headers.get("retry-after")) || undefined);
}

/** Returns null for a bug, which is logged instead. */
export const thrownAs = ({ status, message, code, retryAfter }: AppError): A2aError | null =>
  status === 500 ? null : new A2aError(byStatus[status] ?? "INVALID_REQUEST", message, code, retryAfter);
