const catalogue = {
  validation_failed: { status: 400, type: "invalid_request_error" },
  unknown_parameter: { status: 400, type: "invalid_request_error" },
  invalid_json: { status: 400, type: "invalid_request_error" },
  invalid_cursor: { status: 400, type: "invalid_request_error" },
  model_not_available: { status: 400, type: "invalid_request_error" },
  tool_call_not_found: { status: 400, type: "invalid_request_error" },
  missing_api_key: { status: 401, type: "authentication_error" },
  invalid_api_key: { status: 401, type: "authentication_error" },
  insufficient_scope: { status: 403, type: "permission_error" },
  https_required: { status: 403, type: "permission_error" },
  url_not_allowed: { status: 403, type: "permission_error" },
  resource_not_found: { status: 404, type: "not_found_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  payload_too_large: { status: 413, type: "invalid_request_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  run_not_awaiting_action: { status: 409, type: "conflict_error" },
  run_already_terminal: { status: 409, type: "conflict_error" },
  run_not_terminal: { status: 409, type: "conflict_error" },
  tool_call_already_resolved: { status: 409, type: "conflict_error" },
  version_conflict: { status: 409, type: "conflict_error" },
  name_taken: { status: 409, type: "conflict_error" },
  last_admin_key: { status: 409, type: "conflict_error" },
  rate_limited: { status: 429, type: "rate_limit_error" },
  concurrency_limit_exceeded: { status: 429, type: "rate_limit_error" },
  internal_error: { status: 500, type: "api_error" },
  shutting_down: { status: 503, type: "api_error" },
  overloaded: { status: 503, type: "api_error" },
  storage_full: { status: 507, type: "api_error" },
} as const;

export type ErrorCode = keyof typeof catalogue;

/** One fault of a request: which parameter, which rule, and a sentence for the person who reads it. */
export interface Fault {
  param: string | null;
  code: string;
  message: string;
}

export interface ErrorDetail {
  param?: string | null;
  /** Every fault, when there is more to say than the first one. */
  errors?: Fault[];
  details?: Record<string, unknown>;
  /** Seconds after which the same request can succeed; becomes `Retry-After`. */
  retryAfter?: number;
  /** For the log alone: clients never see it. */
  cause?: unknown;
}

/** The only error that crosses a module boundary. Clients read `message`; `cause` goes to the log and nowhere else. */
export class AppError extends Error {
  readonly param: string | null;
  readonly errors: Fault[] | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfter: number | undefined;

  constructor(
    readonly code: ErrorCode,
    message: string,
    detail: ErrorDetail = {},
  ) {
    super(message, { cause: detail.cause });
    this.name = "AppError";
    this.param = detail.param ?? null;
    this.errors = detail.errors;
    this.details = detail.details;
    this.retryAfter = detail.retryAfter;
  }

  get status(): number {
    return catalogue[this.code].status;
  }

  get type(): string {
    return catalogue[this.code].type;
  }
}

export const errorCodes = Object.keys(catalogue) as ErrorCode[];

/** Why a run ended `failed`: data in `run.error.code`, never an HTTP error. */
export const runErrorCodes = [
  "model_error",
  "model_rate_limited",
  "model_not_available",
  "context_length_exceeded",
  "tool_error",
  "tool_outcome_unknown",
  "guardrail_blocked",
  "budget_exceeded",
  "max_turns_exceeded",
  "run_timeout",
  "action_expired",
  "output_schema_mismatch",
  "crash_loop",
  "run_cancelled",
  "internal_error",
] as const;
export type RunErrorCode = (typeof runErrorCodes)[number];
