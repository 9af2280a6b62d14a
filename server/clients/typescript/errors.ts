/** What every error of this library is. */
export class RunnelError extends Error {
  // Each class says its own: what a bundler makes of a class's name is nobody's.
  override readonly name: string = "RunnelError";
}

/** A fault of a request: which parameter, and what is wrong with it. */
export interface Fault {
  param: string;
  message: string;
}

/** The server refused a request. */
export class APIError extends RunnelError {
  override readonly name: string = "APIError";
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
    // A proxy may have said something of its own, in a shape of its own.
    const { error: said, request_id } = fieldsOf(body);
    const error = fieldsOf(said);
    super(textOf(error.message) ?? `The server returned ${status}.`);
    this.status = status;
    this.code = textOf(error.code) ?? "unknown";
    this.type = textOf(error.type) ?? "unknown";
    this.param = textOf(error.param);
    this.errors = Array.isArray(error.errors) ? error.errors : [];
    this.docUrl = textOf(error.doc_url);
    this.requestId = textOf(request_id) ?? headers.get("x-request-id");
    this.headers = headers;
  }

  /** The class for a status. */
  static of(status: number, body: unknown, headers: Headers): APIError {
    const Class = byStatus[status] ?? (status >= 500 ? InternalServerError : APIError);
    return new Class(status, body, headers);
  }

  /** Of a stream that ends with an error: the key is valid no more, for one. */
  static inStream(body: unknown, headers: Headers): APIError {
    return APIError.of(statusByType[textOf(fieldsOf(fieldsOf(body).error).type) ?? ""] ?? 500, body, headers);
  }
}

/** A stream says only by its body why it ends; its own status was 200. */
const statusByType: Record<string, number> = { authentication_error: 401, permission_error: 403, not_found_error: 404 };

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
const textOf = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** 400: the request is not valid; `errors` says where. */
export class BadRequestError extends APIError {
  override readonly name = "BadRequestError";
}
/** 401: the API key is missing, unknown or valid no more. */
export class AuthenticationError extends APIError {
  override readonly name = "AuthenticationError";
}
/** 403: the key lacks a scope. */
export class PermissionDeniedError extends APIError {
  override readonly name = "PermissionDeniedError";
}
/** 404: there is no such thing in this project and environment. */
export class NotFoundError extends APIError {
  override readonly name = "NotFoundError";
}
/** 409: it does not fit how things stand. */
export class ConflictError extends APIError {
  override readonly name = "ConflictError";
}
/** 429: too much at once; the client has retried already. */
export class RateLimitError extends APIError {
  override readonly name = "RateLimitError";
}
/** 5xx: the server failed, stops, or has no room; the client has retried already. */
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

/** The server was not reached, or the connection was lost. */
export class APIConnectionError extends RunnelError {
  override readonly name: string = "APIConnectionError";
}

/** The server's certificate is not trusted. It is not tried again: pass `ca`, or set RUNNEL_CACERT. */
export class CertificateError extends APIConnectionError {
  override readonly name = "CertificateError";
}

/** The server did not respond within `timeoutMs`. */
export class APITimeoutError extends APIConnectionError {
  override readonly name = "APITimeoutError";
}

/** The response is not one of a runnel server: another server has this address, or a proxy changed it. */
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
  }
}

/** What was received as a webhook was not signed with this secret, or is too old. */
export class WebhookVerificationError extends RunnelError {
  override readonly name = "WebhookVerificationError";
}
