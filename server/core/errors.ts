/** Every refusal of the API: its HTTP status, and for whoever meets it, what it means and what to do. */
export const catalogue = {
  validation_failed: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The request breaks a rule. `errors` lists every fault with its parameter: mend them and send it again.",
  },
  unknown_parameter: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The request has a field or query parameter that does not exist here. Correct its name, or leave it out.",
  },
  invalid_json: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "The body is not JSON in UTF-8, nests too deep, has a name twice in one object, or a number that is too large.",
  },
  invalid_cursor: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The cursor is no id of what this list has, or the run has no such event. Begin again without it.",
  },
  model_not_available: {
    status: 400,
    type: "invalid_request_error",
    meaning: "There is no such model, or no connection to its provider. `GET /v1/models` lists what agents may use.",
  },
  tool_call_not_found: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The run has no tool call with this id. Take the ids from `required_action`.",
  },
  missing_api_key: {
    status: 401,
    type: "authentication_error",
    meaning: "The request has no key. Send `Authorization: Bearer <API key>`.",
  },
  invalid_api_key: {
    status: 401,
    type: "authentication_error",
    meaning: "The key is unknown, expired, revoked or used from a network that it does not allow. Use another one.",
  },
  key_revoked: {
    status: 401,
    type: "authentication_error",
    meaning: "The last event of a stream whose API key was revoked. Open it again with another one.",
  },
  key_expired: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The last event of a stream whose API key has expired, also at the end of the overlap after a rotation. Open it again with another one.",
  },
  client_token_expired: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The time of a client token is over; of a stream, this is its last event. Make another one, and read on from the last id.",
  },
  project_archived: {
    status: 401,
    type: "authentication_error",
    meaning: "The last event of a stream whose project was archived or deleted.",
  },
  missing_session: {
    status: 401,
    type: "authentication_error",
    meaning: "The dashboard's session is missing or over. Sign in.",
  },
  metrics_token_required: {
    status: 401,
    type: "authentication_error",
    meaning: "Metrics can be read from the server's own machine, or with `RUNNEL_METRICS_TOKEN` as a bearer token.",
  },
  invalid_login: {
    status: 401,
    type: "authentication_error",
    meaning: "The email address or the password is wrong.",
  },
  second_factor_required: {
    status: 401,
    type: "authentication_error",
    meaning: "The password is right. The account asks for a code of its authenticator app too, or for a recovery code.",
  },
  invalid_code: {
    status: 401,
    type: "authentication_error",
    meaning: "The code is wrong, too old or was used already.",
  },
  insufficient_scope: {
    status: 403,
    type: "permission_error",
    meaning:
      "The key may not do this. `details.required_scope` names the scope that may; or `details.bound_by` names what binds the key: `agent_ids`, `allowed_cidrs` or `expires_at`. Of a client token, `param` names what it may not say.",
  },
  https_required: {
    status: 403,
    type: "permission_error",
    meaning: "The request came over plain HTTP. Use https, and replace the key: it has been sent in clear text.",
  },
  url_not_allowed: {
    status: 403,
    type: "permission_error",
    meaning:
      "The address may not be reached from this server: private, not https, or a port of another protocol. The operator can allow private ones.",
  },
  origin_not_allowed: {
    status: 403,
    type: "permission_error",
    meaning:
      "The page's origin is not among those of the project. An owner adds it: `runnel projects origins`, or the dashboard's settings.",
  },
  cross_origin: {
    status: 403,
    type: "permission_error",
    meaning: "The dashboard's API takes changes from the dashboard's own pages only.",
  },
  insufficient_role: {
    status: 403,
    type: "permission_error",
    meaning: "Your role at the dashboard may not do this. `details.required_role` names the one that may.",
  },
  local_accounts_off: {
    status: 403,
    type: "permission_error",
    meaning: "People sign in at the issuer here, and nobody by a password: `--local-accounts off`.",
  },
  issuer_failed: {
    status: 502,
    type: "api_error",
    meaning: "The issuer that people sign in at was not reached, or is not set up for this server. The log says why.",
  },
  invitation_invalid: {
    status: 403,
    type: "permission_error",
    meaning: "The invitation is wrong, used up, withdrawn or older than 7 days. An owner can make a new one.",
  },
  reset_invalid: {
    status: 403,
    type: "permission_error",
    meaning: "The link for another password is wrong, used up, replaced by a newer one or older than an hour.",
  },
  setup_token_invalid: {
    status: 403,
    type: "permission_error",
    meaning: "The set-up link is wrong or used up. `runnel admin setup-link` prints a new one.",
  },
  setup_token_expired: {
    status: 403,
    type: "permission_error",
    meaning: "The set-up link is older than 30 minutes. `runnel admin setup-link` prints a new one.",
  },
  resource_not_found: {
    status: 404,
    type: "not_found_error",
    meaning: "There is nothing with this id or address in the project and environment of the key.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    meaning: "The address exists, but not with this method. The header `Allow` names its methods.",
  },
  payload_too_large: {
    status: 413,
    type: "invalid_request_error",
    meaning: "The body, or an output in it, is larger than its limit. `GET /v1/me` tells the limits.",
  },
  file_too_large: {
    status: 413,
    type: "invalid_request_error",
    meaning: "The file is larger than `file_bytes` of `GET /v1/me`. Split it.",
  },
  headers_too_large: {
    status: 431,
    type: "invalid_request_error",
    meaning:
      "The address and the headers of the request are longer than 16 KB. Send less: a long list belongs into a body.",
  },
  unsupported_file_type: {
    status: 415,
    type: "invalid_request_error",
    meaning: "Files of this type cannot be searched. Convert it, or upload it for another purpose.",
  },
  range_not_satisfiable: {
    status: 416,
    type: "invalid_request_error",
    meaning: "The file is shorter than the `Range` that was asked for. `Content-Range` tells its length.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    meaning: "The body must be `application/json` in UTF-8, not compressed.",
  },
  run_not_awaiting_action: {
    status: 409,
    type: "conflict_error",
    meaning: "The run waits for no tool output. Read its `status`.",
  },
  run_already_terminal: {
    status: 409,
    type: "conflict_error",
    meaning: "The run is over and cannot be cancelled any more.",
  },
  record_damaged: {
    status: 409,
    type: "conflict_error",
    meaning: "The record of the run cannot be read any more, so that nothing can be made of it.",
  },
  run_not_terminal: {
    status: 409,
    type: "conflict_error",
    meaning: "The run is not over. Cancel it first, then delete it.",
  },
  run_pinned: {
    status: 409,
    type: "conflict_error",
    meaning: "A suite has pinned the run: `details.suite_ids`. Take it out of them first.",
  },
  thread_busy: {
    status: 409,
    type: "conflict_error",
    meaning: "A run of the thread is not over: `details.run_id`. Wait for it, or send `if_thread_busy`.",
  },
  tool_call_already_resolved: {
    status: 409,
    type: "conflict_error",
    meaning: "The tool call has another answer already. The first one counts.",
  },
  version_conflict: {
    status: 409,
    type: "conflict_error",
    meaning: "The agent was changed meanwhile. Read it, and send its `version` as `expected_version`.",
  },
  name_taken: {
    status: 409,
    type: "conflict_error",
    meaning: "Something of this kind has this name already. Choose another one.",
  },
  precondition_failed: {
    status: 409,
    type: "conflict_error",
    meaning: "The key was written meanwhile. Read it again, and send its `version` as `If-Match`.",
  },
  file_not_failed: {
    status: 409,
    type: "conflict_error",
    meaning: "Nothing of the file has failed, so that there is nothing to try again. Read its `status`.",
  },
  last_admin_key: {
    status: 409,
    type: "conflict_error",
    meaning: "The last admin key of an environment cannot be revoked. Make another one first.",
  },
  key_not_active: {
    status: 409,
    type: "conflict_error",
    meaning: "The key has a successor, has expired or was revoked. Rotate its successor, or make another key.",
  },
  idempotency_key_reused: {
    status: 409,
    type: "idempotency_error",
    meaning:
      "The `Idempotency-Key` belongs to another request of the last 24 hours, or to a secret that another API key asked for. Take a new key for a new request.",
  },
  idempotency_in_progress: {
    status: 409,
    type: "idempotency_error",
    meaning: "The first request with this `Idempotency-Key` has no answer yet. Send it again in a moment.",
  },
  last_owner: {
    status: 409,
    type: "conflict_error",
    meaning: "The last owner can neither be removed nor get another role. Make someone else an owner first.",
  },
  setup_done: {
    status: 409,
    type: "conflict_error",
    meaning: "There is an account already. Sign in with it.",
  },
  rate_limited: {
    status: 429,
    type: "rate_limit_error",
    meaning: "Too many requests. Waiting the seconds of `Retry-After` is always enough.",
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: "rate_limit_error",
    meaning: "As many runs are in progress as may be at once. Try again when one has ended.",
  },
  internal_error: {
    status: 500,
    type: "api_error",
    meaning: "A fault of the server. Its log has the cause under the `request_id`.",
  },
  shutting_down: {
    status: 503,
    type: "api_error",
    meaning: "The server is stopping. Try again after `Retry-After`.",
  },
  cluster_unavailable: {
    status: 503,
    type: "api_error",
    meaning:
      "The cluster has no leader at the moment, or its engine is away. What was asked may have been done: try again after `Retry-After`, with the same `Idempotency-Key`.",
  },
  overloaded: {
    status: 503,
    type: "api_error",
    meaning: "The server has too much to do. Try again after `Retry-After`.",
  },
  embedding_failed: {
    status: 503,
    type: "api_error",
    meaning: "The store's embedding model could not be asked, or answered nonsense. Search by `keyword` meanwhile.",
  },
  storage_full: {
    status: 507,
    type: "api_error",
    meaning: "The server's disk is full. The operator must make room.",
  },
} as const;

export type ErrorCode = keyof typeof catalogue;

/** One fault of a request: which parameter, which rule, and a sentence for the person who reads it. */
export interface Fault {
  param: string | null;
  code: string;
  message: string;
}

interface ErrorDetail {
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
    // Whoever reads `errors` finds all that is wrong, also where that is one thing.
    const only = code === "validation_failed" ? [{ param: this.param, code: "invalid_value", message }] : undefined;
    this.errors = detail.errors ?? only;
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

/** Why a run ended `failed` or `cancelled`: data in `run.error.code`, never an HTTP error. */
export const runErrors = {
  model_error: "The model's provider failed, or could not be reached, also when asked again.",
  model_incomplete:
    "The model's response ended before it was complete, also when asked again. `output` is what came at last.",
  model_rate_limited: "The model's provider kept refusing for too many requests.",
  model_not_available:
    "The model's provider does not know the model, or refused the credential; or its connection is gone.",
  context_length_exceeded:
    "The conversation is longer than the model takes, and could not be shortened (see Long conversations).",
  tool_error: "A tool failed in a way that the model could not be told of.",
  tool_outcome_unknown:
    "Nobody knows whether a tool call had its effect, and the run could not go on without knowing. No run of this version ends so.",
  guardrail_blocked: "A guardrail stopped the run.",
  budget_exceeded: "The run, or its project for the day, has nothing left of its budget; the message names the limit.",
  max_turns_exceeded: "The run made `max_turns` model calls without coming to an end.",
  run_timeout: "The run worked longer than its `timeout_ms`; waiting for an answer does not count.",
  action_expired: "Nobody answered what the run asked for within `action_timeout_ms`.",
  output_schema_mismatch: "The answer does not fit the agent's `output_schema`.",
  crash_loop: "The server died three times in a row while this run made no progress.",
  replay_diverged:
    "The replay did not come out as the record says; `divergence` names the step. `mode: verify` shows what else differs.",
  run_cancelled: "The run was cancelled.",
  internal_error: "A fault of the server. Its log has the cause under the run's id.",
} as const;
export type RunErrorCode = keyof typeof runErrors;

export const runErrorCodes = Object.keys(runErrors) as RunErrorCode[];
