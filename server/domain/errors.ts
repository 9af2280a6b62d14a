/** All errors of the API: HTTP status, meaning, and remedy. */
export const catalogue = {
  validation_failed: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "The request is not valid. `errors` lists every problem with its parameter: fix them and send the request again.",
  },
  unknown_parameter: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The request has a field or query parameter that does not exist. Correct its name, or leave it out.",
  },
  invalid_json: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "The body is not valid JSON in UTF-8: a syntax error, too many levels, a repeated name in one object, or a number that is too large. Fix the body.",
  },
  invalid_cursor: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The cursor is not an id of this list, or the run has no such event. Start again without it.",
  },
  model_not_available: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "The model does not exist, or its provider has no connection. `GET /v1/models` lists the models that agents can use.",
  },
  unsupported_input: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "An image, a recording or a document is of a type that cannot be used, or the model does not take it. `param` names it: convert it, or use another model.",
  },
  url_not_fetched: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "An address in the input could not be fetched. `details.reason` says why: `unreachable`, `timeout`, `bad_status`, `too_large`, `too_many_redirects` or `empty`. Send the content itself instead.",
  },
  budget_needs_price: {
    status: 400,
    type: "invalid_request_error",
    meaning:
      "The run has a budget in US dollars, or its project has one per day, and a model's price is unknown; `details.model` names it. The operator can set a price (`runnel models prices set`) or load a newer table (`runnel models update`), or allow such models for the project (`--unknown-price allow`).",
  },
  tool_call_not_found: {
    status: 400,
    type: "invalid_request_error",
    meaning: "The run has no tool call with this id. Use an id from `required_action`.",
  },
  missing_api_key: {
    status: 401,
    type: "authentication_error",
    meaning: "The request has no API key. Send `Authorization: Bearer <API key>`.",
  },
  invalid_api_key: {
    status: 401,
    type: "authentication_error",
    meaning: "The API key is unknown or expired, or it does not allow your network. Use another key.",
  },
  key_revoked: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The API key was revoked; `details.reason` is `exposed` where it was sent over plain HTTP. A stream ends with it. Use another key.",
  },
  key_expired: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The stream's API key has expired, perhaps at the end of the overlap after a rotation, and this is the last event. Open the stream again with another key.",
  },
  client_token_expired: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The client token has expired. Create another one; on a stream this is the last event: continue after its id.",
  },
  project_archived: {
    status: 401,
    type: "authentication_error",
    meaning:
      "The stream's project was archived or deleted, and this is the last event. An owner can unarchive an archived project.",
  },
  missing_session: {
    status: 401,
    type: "authentication_error",
    meaning: "There is no dashboard session, or it has expired. Sign in.",
  },
  invalid_signature: {
    status: 401,
    type: "authentication_error",
    meaning:
      "There is no such trigger, or the event was not signed with its secret, or more than five minutes ago. `GET /v1/triggers/:id/deliveries` says which.",
  },
  metrics_token_required: {
    status: 401,
    type: "authentication_error",
    meaning:
      "Send `RUNNEL_METRICS_TOKEN` as a bearer token, or read the metrics on the server's own machine, by a name of it.",
  },
  invalid_login: {
    status: 401,
    type: "authentication_error",
    meaning: "The email address or the password is wrong. Try again, or reset the password.",
  },
  second_factor_required: {
    status: 401,
    type: "authentication_error",
    meaning: "The password is right. Send a code from the account's authenticator app too, or a recovery code.",
  },
  invalid_code: {
    status: 401,
    type: "authentication_error",
    meaning: "The code is wrong, expired or used. Send the next one.",
  },
  insufficient_scope: {
    status: 403,
    type: "permission_error",
    meaning:
      "The key may not do this. `details.required_scope` names the scope that it needs, or `details.bound_by` the restriction of the key: `agent_ids`, `allowed_cidrs` or `expires_at`. Where that is `client_token`, no scope of a client token would help: use an API key. For a client token, `param` names the field that it may not set.",
  },
  https_required: {
    status: 403,
    type: "permission_error",
    meaning: "The request came over plain HTTP. Use HTTPS, and replace the key: it was sent without encryption.",
  },
  url_not_allowed: {
    status: 403,
    type: "permission_error",
    meaning:
      "The server may not connect to this URL: it is private, not HTTPS, or has a port of another protocol. The operator can allow private ones: `--egress-allow`.",
  },
  origin_not_allowed: {
    status: 403,
    type: "permission_error",
    meaning:
      "The page's origin is not on the project's list. An owner can add it in the dashboard's settings, or with `runnel projects origins`.",
  },
  cross_origin: {
    status: 403,
    type: "permission_error",
    meaning: "Only the dashboard's own pages can make changes here. Use the API with an API key instead.",
  },
  insufficient_role: {
    status: 403,
    type: "permission_error",
    meaning: "Your role may not do this. `details.required_role` names the role that may: ask an owner for it.",
  },
  local_accounts_off: {
    status: 403,
    type: "permission_error",
    meaning: "Passwords are turned off here (`--local-accounts off`). Sign in with the issuer.",
  },
  issuer_failed: {
    status: 502,
    type: "api_error",
    meaning:
      "The OpenID Connect issuer could not be reached, or is not set up for this server. Try again; the server's log has the cause.",
  },
  oauth_server_failed: {
    status: 502,
    type: "api_error",
    meaning:
      "The authorization server of an OAuth client could not be reached, or its answer cannot be used. The message says why: correct the client, or try again.",
  },
  invitation_invalid: {
    status: 403,
    type: "permission_error",
    meaning: "The invitation is wrong, used, withdrawn or older than 7 days. Ask an owner for a new one.",
  },
  reset_invalid: {
    status: 403,
    type: "permission_error",
    meaning:
      "The link to reset the password is wrong, used, replaced by a newer one or older than an hour. Ask for a new one.",
  },
  setup_token_invalid: {
    status: 403,
    type: "permission_error",
    meaning: "The setup link is wrong or used. `runnel admin setup-link` prints a new one.",
  },
  setup_token_expired: {
    status: 403,
    type: "permission_error",
    meaning: "The setup link is older than 30 minutes. `runnel admin setup-link` prints a new one.",
  },
  resource_not_found: {
    status: 404,
    type: "not_found_error",
    meaning:
      "Nothing has this id or URL in the project and environment of the key. Check the id, and that the key is of the same environment, test or live.",
  },
  method_not_allowed: {
    status: 405,
    type: "invalid_request_error",
    meaning: "The URL exists, but not with this method. The `Allow` header lists its methods.",
  },
  body_timeout: {
    status: 408,
    type: "invalid_request_error",
    meaning:
      "The body stopped before it was complete, and nothing came for ten seconds. Nothing was done: send the whole request again.",
  },
  payload_too_large: {
    status: 413,
    type: "invalid_request_error",
    meaning: "The body, or an output in it, is larger than the limit. `GET /v1/me` lists the limits: send less.",
  },
  file_too_large: {
    status: 413,
    type: "invalid_request_error",
    meaning: "The file is larger than `file_bytes` in `GET /v1/me`. Split it.",
  },
  headers_too_large: {
    status: 431,
    type: "invalid_request_error",
    meaning: "The URL and the headers are longer than 16 KB. Send less: a long list belongs in the body.",
  },
  unsupported_file_type: {
    status: 415,
    type: "invalid_request_error",
    meaning: "Files of this type cannot be searched. Convert the file, or upload it for another purpose.",
  },
  range_not_satisfiable: {
    status: 416,
    type: "invalid_request_error",
    meaning: "The `Range` begins after the end of the file. `Content-Range` has its length.",
  },
  page_not_drawn: {
    status: 409,
    type: "conflict_error",
    meaning: "The page cannot be drawn: it is damaged, or takes too long. Download the file to see it.",
  },
  unsupported_media_type: {
    status: 415,
    type: "invalid_request_error",
    meaning: "The body must be JSON in UTF-8, not compressed, with `Content-Type: application/json`.",
  },
  run_not_awaiting_action: {
    status: 409,
    type: "conflict_error",
    meaning: "The run does not wait for tool outputs or approvals. Check its `status`.",
  },
  run_already_terminal: {
    status: 409,
    type: "conflict_error",
    meaning: "The run has ended: it can no longer be cancelled, and takes no messages. Start another run.",
  },
  run_not_steerable: {
    status: 409,
    type: "conflict_error",
    meaning:
      "The run takes no message now: its last model call (`max_turns`) has begun, or too many messages wait for the next one. Wait for its end, and start another run.",
  },
  record_damaged: {
    status: 409,
    type: "conflict_error",
    meaning:
      "The run's record is damaged and cannot be read: it cannot be replayed, forked or compared. Use another run.",
  },
  run_not_terminal: {
    status: 409,
    type: "conflict_error",
    meaning: "The run has not ended. Wait for its end, or cancel it first.",
  },
  run_pinned: {
    status: 409,
    type: "conflict_error",
    meaning: "The run is a case of suites: `details.suite_ids`. Remove it from them first.",
  },
  snippet_in_use: {
    status: 409,
    type: "conflict_error",
    meaning:
      "Agents use the snippet, perhaps in a version that a label holds: `details.agent_ids`. Take it out of their instructions first.",
  },
  thread_busy: {
    status: 409,
    type: "conflict_error",
    meaning: "The thread has a run that has not ended: `details.run_id`. Wait for it, or send `if_thread_busy`.",
  },
  tool_call_already_resolved: {
    status: 409,
    type: "conflict_error",
    meaning: "The tool call already has another result. The first one counts.",
  },
  version_conflict: {
    status: 409,
    type: "conflict_error",
    meaning:
      "The agent, label or connection was changed in the meantime. Read it again, and send its `version` as `expected_version`, or a label's `revision` as `expected_revision`.",
  },
  agent_ambiguous: {
    status: 409,
    type: "conflict_error",
    meaning:
      "Several agents have this name, or it contains an `@`, which could begin a label. Use one of the ids in `details.agent_ids`.",
  },
  label_has_no_past: {
    status: 409,
    type: "conflict_error",
    meaning: "The label holds what it held first, so there is nothing to roll it back to. Set another version.",
  },
  name_taken: {
    status: 409,
    type: "conflict_error",
    meaning: "The name is taken. Choose another one.",
  },
  document_changed: {
    status: 409,
    type: "conflict_error",
    meaning:
      "The document has changed since the `dry_run` that answered this `sha256`, so nothing was imported. Send another `dry_run`, look at the difference, and send its `sha256`.",
  },
  precondition_failed: {
    status: 409,
    type: "conflict_error",
    meaning:
      "The key of the memory store was changed in the meantime. Read it again, and send its `version` as `If-Match`.",
  },
  file_not_failed: {
    status: 409,
    type: "conflict_error",
    meaning: "No part of the file has failed, so there is nothing to retry. Check its `status`.",
  },
  last_admin_key: {
    status: 409,
    type: "conflict_error",
    meaning: "The last admin key of an environment cannot be revoked. Create another one first.",
  },
  key_not_active: {
    status: 409,
    type: "conflict_error",
    meaning: "The key was rotated or revoked, or has expired. Use the key that replaced it, or create another one.",
  },
  idempotency_key_reused: {
    status: 409,
    type: "idempotency_error",
    meaning:
      "The `Idempotency-Key` was used for another request in the last 24 hours, or for a secret that another API key asked for. Use a new one for each new request.",
  },
  idempotency_in_progress: {
    status: 409,
    type: "idempotency_error",
    meaning: "The first request with this `Idempotency-Key` is still in progress. Send it again in a moment.",
  },
  last_owner: {
    status: 409,
    type: "conflict_error",
    meaning: "The last owner cannot be removed or get another role. Make someone else an owner first.",
  },
  setup_done: {
    status: 409,
    type: "conflict_error",
    meaning: "There is an account already. Sign in with it.",
  },
  rate_limited: {
    status: 429,
    type: "rate_limit_error",
    meaning: "Too many requests. Wait as many seconds as `Retry-After` says.",
  },
  concurrency_limit_exceeded: {
    status: 429,
    type: "rate_limit_error",
    meaning: "The maximum number of runs is in progress. Try again when one has ended.",
  },
  internal_error: {
    status: 500,
    type: "api_error",
    meaning:
      "Something went wrong on the server. Give the `request_id` to the operator: the log has the cause under it.",
  },
  shutting_down: {
    status: 503,
    type: "api_error",
    meaning: "The server is shutting down. Try again after `Retry-After`.",
  },
  cluster_unavailable: {
    status: 503,
    type: "api_error",
    meaning:
      "The cluster has no leader at the moment, or its engine cannot be reached. The request may have been carried out: send it again after `Retry-After`, with the same `Idempotency-Key`.",
  },
  overloaded: {
    status: 503,
    type: "api_error",
    meaning: "The server is overloaded. Try again after `Retry-After`.",
  },
  embedding_failed: {
    status: 503,
    type: "api_error",
    meaning:
      "The embedding model could not be reached, or its response is not valid. Try again, or search with the mode `keyword`.",
  },
  storage_full: {
    status: 507,
    type: "api_error",
    meaning: "The server's disk is full. The operator must free space.",
  },
} as const;

export type ErrorCode = keyof typeof catalogue;

/** One fault of a request: the parameter, the rule, and a sentence for people. */
export interface Fault {
  param: string | null;
  code: string;
  message: string;
}

/** An error with a code for programs and a message for people. */
export interface CodedError {
  code: string;
  message: string;
}

interface ErrorDetail {
  param?: string | null;
  /** Every fault, if there is more than the first. */
  errors?: Fault[];
  details?: Record<string, unknown>;
  /** Seconds after which a retry can succeed; becomes `Retry-After`. */
  retryAfter?: number;
  /** For the log only, never for clients. */
  cause?: unknown;
}

/** The only error that crosses module boundaries. Clients see `message`; `cause` is logged only. */
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
    // `errors` is complete even if there is only one fault.
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

export const isRefusal = (error: unknown, code: ErrorCode): error is AppError =>
  error instanceof AppError && error.code === code;

/** For `catch`: treats this error as success. */
export const tolerate =
  (code: ErrorCode) =>
  (error: unknown): void => {
    if (!isRefusal(error, code)) throw error;
  };

export const errorCodes = Object.keys(catalogue) as ErrorCode[];

/** Reasons of `failed` and `cancelled` runs: data in `run.error.code`, never an HTTP error. */
export const runErrors = {
  model_error:
    "The model's provider returned an error or could not be reached, also after retries. Check the connection and the provider's status.",
  model_incomplete: "The model's response ended too early, also after retries. `output` has the last response.",
  model_rate_limited:
    "The model's provider limited the rate of requests, also after retries. Try again later, or raise the limit at the provider.",
  model_not_available:
    "The provider does not know the model or refused the credential, or the connection was removed. Check the agent's model and its connection.",
  context_length_exceeded:
    "The conversation is longer than the model's context window and could not be shortened (see Long conversations).",
  tool_error: "A tool failed, and its error could not be given to the model.",
  tool_outcome_unknown:
    "It is unknown whether a tool call took effect, and the run could not continue without that. Runs of this version do not end this way.",
  guardrail_blocked: "A guardrail blocked the run.",
  budget_exceeded:
    "The run reached a limit of its budget, or its project the limit of the day. The message names the limit: raise it, or wait for the next day.",
  max_turns_exceeded:
    "The run made `max_turns` model calls without finishing. Raise `max_turns`, or make the task smaller.",
  run_timeout:
    "The run worked longer than its `timeout_ms`. Time in which it waits for outputs and approvals does not count.",
  action_expired: "The tool outputs or approvals were not submitted within `action_timeout_ms`.",
  output_schema_mismatch: "The response does not match the agent's `output_schema`.",
  crash_loop: "The server crashed three times in a row while this run made no progress.",
  replay_diverged:
    "The replay differs from the record; `divergence` names the step. `mode: verify` lists all differences.",
  run_cancelled: "The run was cancelled.",
  internal_error: "Something went wrong on the server. Its log has the cause under the run's id.",
} as const;
export type RunErrorCode = keyof typeof runErrors;

export const runErrorCodes = Object.keys(runErrors) as RunErrorCode[];
