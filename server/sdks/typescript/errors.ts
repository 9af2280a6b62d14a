/** Base class of all errors of this library. */
export class RunnelError extends Error {
  // Set explicitly, because bundlers rename classes.
  override readonly name: string = "RunnelError";
  /** Id of the run that may go on without its watcher; null if the error ended no watching of a run. */
  runId: string | null = null;
}

/** A fault of a request: the parameter and a message. */
export interface Fault {
  param: string;
  message: string;
}

/** The server refused a request. */
export class APIError extends RunnelError {
  override readonly name: string = "APIError";
  readonly status: number;
  /** The same as `status`, under the name that Node's own responses give it. */
  readonly statusCode: number;
  /** Machine-readable error code: `validation_failed`, `resource_not_found`, … */
  readonly code: string;
  readonly type: string;
  readonly param: string | null;
  /** All faults of an invalid request. */
  readonly errors: readonly Fault[];
  readonly docUrl: string | null;
  /** Request id to give to the operator when you ask about this error. */
  readonly requestId: string | null;
  readonly headers: Headers;

  constructor(status: number, body: unknown, headers: Headers) {
    // A proxy may have sent a body of another shape.
    const { error: said, request_id } = fieldsOf(body);
    const error = fieldsOf(said);
    super(textOf(error.message) ?? `The server returned ${status}.`);
    this.status = status;
    this.statusCode = status;
    this.code = textOf(error.code) ?? "unknown";
    this.type = textOf(error.type) ?? "unknown";
    this.param = textOf(error.param);
    this.errors = Array.isArray(error.errors) ? error.errors : [];
    this.docUrl = textOf(error.doc_url);
    this.requestId = textOf(request_id) ?? headers.get("x-request-id");
    this.headers = headers;
  }

  /** Creates the error class for a status. */
  static of(status: number, body: unknown, headers: Headers): APIError {
    const Class = byStatus[status] ?? (status >= 500 ? InternalServerError : APIError);
    return new Class(status, body, headers);
  }

  /** Creates the error of a stream that ends with one, for example because the key expired. */
  static inStream(body: unknown, headers: Headers): APIError {
    return APIError.of(statusByType[textOf(fieldsOf(fieldsOf(body).error).type) ?? ""] ?? 500, body, headers);
  }
}

/** Status by error type, because a stream's own status was 200. */
const statusByType: Record<string, number> = { authentication_error: 401, permission_error: 403, not_found_error: 404 };

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** 400: the request is invalid; `errors` has the faults. */
export class BadRequestError extends APIError {
  override readonly name = "BadRequestError";
}
/** 401: the API key is missing, unknown, expired or revoked. */
export class AuthenticationError extends APIError {
  override readonly name = "AuthenticationError";
}
/** 403: the key lacks a scope. */
export class PermissionDeniedError extends APIError {
  override readonly name = "PermissionDeniedError";
}
/** 404: the object does not exist in this project and environment. */
export class NotFoundError extends APIError {
  override readonly name = "NotFoundError";
}
/** 409: the request conflicts with the current state. */
export class ConflictError extends APIError {
  override readonly name = "ConflictError";
}
/** 429: too many requests; the client has already retried. */
export class RateLimitError extends APIError {
  override readonly name = "RateLimitError";
}
/** 5xx: the server failed, is stopping, or has no room; the client has already retried. */
export class InternalServerError extends APIError {
  override readonly name = "InternalServerError";
}

const byStatus: Record<number, typeof APIError> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitError,
};

/** The server could not be reached, or the connection was lost. */
export class APIConnectionError extends RunnelError {
  override readonly name: string = "APIConnectionError";
}

/** The server's certificate is not trusted. Not retried: pass `ca`, or set RUNNEL_CACERT. */
export class CertificateError extends APIConnectionError {
  override readonly name = "CertificateError";
}

/** The server did not respond within `timeoutMs`. */
export class APITimeoutError extends APIConnectionError {
  override readonly name = "APITimeoutError";
}

/** The response is not from a runnel server: another server has this address, or a proxy changed the response. */
export class UnexpectedResponseError extends RunnelError {
  override readonly name = "UnexpectedResponseError";
}

/** A run ended without completing. */
export class RunFailedError extends RunnelError {
  override readonly name = "RunFailedError";
  readonly run: { id: string; status: string; error: { code: string; message: string } | null };

  constructor(run: RunFailedError["run"]) {
    super(`The run ${run.id} ${run.status}: ${run.error?.message ?? "no reason is known"}`);
    this.run = run;
    this.runId = run.id;
  }
}

/** A run waits for an answer that this program does not have. It keeps waiting. */
export class ActionRequiredError extends RunnelError {
  override readonly name = "ActionRequiredError";
  readonly run: { id: string; status: string };

  constructor(message: string, run: ActionRequiredError["run"]) {
    super(message);
    this.run = run;
    this.runId = run.id;
  }
}

/** The webhook was not signed with this secret, or is too old. */
export class WebhookVerificationError extends RunnelError {
  override readonly name = "WebhookVerificationError";
}
