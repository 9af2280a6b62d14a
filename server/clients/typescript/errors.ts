/** What every error of this library is. */
export class RunnelError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A fault of a request: which parameter, and what is wrong with it. */
export interface Fault {
  param: string;
  message: string;
}

/** The server refused a request. */
export class APIError extends RunnelError {
  readonly status: number;
  /** What went wrong, for programs: `validation_failed`, `resource_not_found`, … */
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  /** Every fault of a request that is not valid. */
  readonly errors: readonly Fault[];
  readonly docUrl: string | null;
  /** Give it to the operator when you ask about this error. */
  readonly requestId: string | null;
  readonly headers: Headers;

  constructor(status: number, body: unknown, headers: Headers) {
    const { error = {}, request_id } = (typeof body === "object" && body !== null ? body : {}) as ErrorBody;
    super(error.message ?? `The server returned ${status}.`);
    this.status = status;
    this.code = error.code ?? "unknown";
    this.type = error.type ?? "unknown";
    this.param = error.param ?? null;
    this.errors = error.errors ?? [];
    this.docUrl = error.doc_url ?? null;
    this.requestId = request_id ?? headers.get("x-request-id");
    this.headers = headers;
  }

  /** The class for a status. */
  static of(status: number, body: unknown, headers: Headers): APIError {
    const Class = byStatus[status] ?? (status >= 500 ? InternalServerError : APIError);
    return new Class(status, body, headers);
  }
}

interface ErrorBody {
  error?: { message?: string; code?: string; type?: string; param?: string | null; errors?: Fault[]; doc_url?: string };
  request_id?: string;
}

export class BadRequestError extends APIError {}
export class AuthenticationError extends APIError {}
export class PermissionDeniedError extends APIError {}
export class NotFoundError extends APIError {}
export class ConflictError extends APIError {}
export class RateLimitError extends APIError {}
export class InternalServerError extends APIError {}

const byStatus: Record<number, typeof APIError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** The server was not reached, or the connection was lost. */
export class ConnectionError extends RunnelError {}

/** The server did not respond within `timeoutMs`. */
export class TimeoutError extends ConnectionError {}

/** A run ended without completing. */
export class RunFailedError extends RunnelError {
  readonly run: { id: string; status: string; error: { code: string; message: string } | null };

  constructor(run: RunFailedError["run"]) {
    super(`The run ${run.id} ${run.status}: ${run.error?.message ?? "no reason is known"}`);
    this.run = run;
  }
}

/** What was received as a webhook was not signed with this secret, or is too old. */
export class WebhookVerificationError extends RunnelError {}
