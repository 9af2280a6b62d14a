import { agentDeleted, tooManyRequests } from "../../domain/error-messages.ts";
import { AppError, isRefusal } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { Scope } from "../../domain/scope.ts";
import type { VariableValues } from "../../domain/variable.ts";
import type { Viewer } from "../../http/auth.ts";
import { toAppError } from "../../http/errors.ts";
import { readBody } from "../../http/json-body.ts";
import type { RateLimiter, RateLimits } from "../../http/rate-limit.ts";
import { failpoint } from "../../lib/failpoint.ts";
import { sha256 } from "../../lib/hash.ts";
import { isObject } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Db } from "../../storage/db/open.ts";
import { inputOf, textAt, userOf, variablesIn } from "./build-run.ts";
import type { Delivery, TriggerDeliveries } from "./deliveries.ts";
import type { TriggerEvent } from "./event-path.ts";
import { unmetCondition } from "./filter.ts";
import { readEvent } from "./read-event.ts";
import { blankRow, choiceOf, type Definition, definitionOf, type Row, runMetadata } from "./row.ts";
import { newTriggerSecret, sealTriggerSecrets } from "./secrets.ts";
import type { TriggerStore, TriggerStoreOptions } from "./store.ts";
import { hasSharedSecret, verify } from "./verify.ts";

/** Parameters of a run that an event starts. */
interface Order {
  agent_id: string;
  version?: number;
  label?: string;
  input: string;
  variables?: VariableValues;
  metadata: Record<string, string>;
  on_concurrency_limit: "queue";
  user_id?: string;
  thread_id?: string;
  if_thread_busy?: "queue";
  budget?: NonNullable<Definition["budget"]>;
}

/** Creates a run; `note` is called inside the same write, and may refuse the run by throwing. */
export type StartEventRun = (
  scope: Viewer,
  order: Order,
  requestId: string,
  note: (run: { id: string }) => void,
) => Promise<{ id: string }>;

/** Threads by names of events; see `createExternalThreadIds`. */
interface EventThreads {
  reserve(viewer: Viewer, name: { agent_id: string; user_id: string | null; chat: string }): string;
  release(id: string): void;
}

/** Response to a sender. */
interface Receipt extends Pick<Delivery, "run_id" | "reason"> {
  outcome: "started" | "duplicate" | "ignored" | "challenge";
  trigger: Row;
  /** Text that Slack expects back when it checks an address. */
  challenge?: string;
}

interface ReceiverOptions {
  db: Db;
  seal: Seal;
  log: Log;
  triggers: TriggerStore;
  deliveries: TriggerDeliveries;
  variablesOf: TriggerStoreOptions["variablesOf"];
  threads: EventThreads;
  start: StartEventRun;
  limiter: RateLimiter;
  limitsOf(scope: Scope): Partial<RateLimits>;
  /** False for a project that is archived or deleted. */
  isOpen(projectId: string): boolean;
  clientOf(request: Request): string | null;
  now(): number;
}

/** Thrown inside the write that creates a run if the event has one already. */
class Duplicate extends Error {
  constructor(readonly run_id: string) {
    super();
  }
}

// Refused requests of a trigger that are stored per minute, so that strangers cannot make the server write.
const refusalsStoredPerMinute = 6;

export type Receiver = ReturnType<typeof createReceiver>;

/** Receives events from outside. Nothing of a request is used before its signature is verified. */
export function createReceiver({
  db,
  seal,
  log,
  triggers,
  deliveries,
  variablesOf,
  threads,
  start,
  limiter,
  limitsOf,
  isOpen,
  clientOf,
  now,
}: ReceiverOptions) {
  const decoy = createDecoy(seal);

  /** Returns the trigger and the body of a request. Throws the same error for unknown triggers and wrong signatures. */
  async function admit(id: string, request: Request): Promise<{ row: Row; bytes: Uint8Array; signed: string | null }> {
    const found = triggers.ofAddress(id);
    const known = found && isOpen(found.project_id) ? found : null;
    const row = known ?? decoy;
    const secrets = triggers.secretsOf(row, now());
    const isTrusted = hasSharedSecret(row, secrets, request.headers);
    const longest = isTrusted ? limits.trigger_mail_bytes : limits.trigger_body_bytes;
    const bytes = await readBody(request, longest).catch((error) => {
      if (!isTrusted) takeFailure(request);
      throw error;
    });
    const verdict = verify(row, secrets, { headers: request.headers, body: bytes }, now());
    if (known && "signed" in verdict) return { row, bytes, signed: verdict.signed };
    if (known && "refusal" in verdict) noteRefusal(known, "refused", 401, verdict.refusal);
    takeFailure(request);
    throw new AppError("invalid_signature", unverified);
  }

  /** Counts a request without a valid signature. Throws if its sender has made too many. */
  function takeFailure(request: Request): void {
    const { accepted, retryAfter } = limiter.takeFailure(clientOf(request) ?? "local");
    if (!accepted) throw tooMany(retryAfter);
  }

  /** Stores a refusal after the response, which must not take longer for a trigger that exists. */
  function noteRefusal(row: Row, outcome: "refused" | "failed", status: number, reason: string): void {
    const { accepted } = limiter.takeOf("trigger", row.id, "refusals", refusalsStoredPerMinute);
    if (!accepted) return;
    db.write(() => addIfThere(row, { outcome, status, run_id: null, reason })).catch((error) =>
      log.error("a request at a trigger was not stored", { trigger_id: row.id, error }),
    );
  }

  /** Call inside a write. The trigger may have been deleted since the request arrived. */
  function addIfThere(row: Row, delivery: Delivery): void {
    if (triggers.ofAddress(row.id)) deliveries.add(row, delivery);
  }

  function limit(row: Row): void {
    const own = limiter.takeOf("trigger", row.id, "events", row.rate_limit_per_minute);
    const standing = own.accepted ? limiter.take(row, "run_creations_per_minute", limitsOf(row)) : own;
    if (standing === null || standing.accepted) return;
    noteRefusal(row, "failed", 429, tooManyRequests);
    throw tooMany(standing.retryAfter);
  }

  async function settle(row: Row, outcome: "ignored" | "duplicate", run_id: string | null, reason: string) {
    await db.write(() => addIfThere(row, { outcome, status: statusOf(row, outcome), run_id, reason }));
    return { trigger: row, outcome, run_id, reason };
  }

  /** Returns the reason why a verified event makes no run, or null. */
  function ignoredReason(row: Row, event: TriggerEvent): string | null {
    if (!row.enabled) return "The trigger is disabled.";
    if (row.verification === "github" && event.headers["x-github-event"] === "ping")
      return "GitHub checks the address.";
    const unmet = unmetCondition(definitionOf(row).filter, event);
    return unmet && `The filter does not match: \`${unmet.path}\`.`;
  }

  async function handle(row: Row, event: TriggerEvent, signed: string | null, requestId: string): Promise<Receipt> {
    const challenge = challengeOf(row, event);
    if (challenge !== null) return { trigger: row, outcome: "challenge", run_id: null, reason: null, challenge };
    const reason = ignoredReason(row, event);
    if (reason !== null) return settle(row, "ignored", null, reason);
    const keys = keysOf(row, event, signed);
    const duplicate = (run_id: string) => settle(row, "duplicate", run_id, "The event has a run already.");
    const known = deliveries.runOf(row, keys);
    if (known !== null) return duplicate(known);
    try {
      const run_id = await begin(row, event, keys, requestId);
      return { trigger: row, outcome: "started", run_id, reason: null };
    } catch (error) {
      if (error instanceof Duplicate) return duplicate(error.run_id);
      throw error;
    }
  }

  /** Creates the run. Its event is stored in the same write, so that a crash neither loses nor repeats it. */
  async function begin(row: Row, event: TriggerEvent, keys: string[], requestId: string): Promise<string> {
    const { thread, budget, variables } = definitionOf(row);
    const user_id = userOf(row, event);
    const name = textAt(event, thread);
    const chat = name === null ? null : `trigger/${row.id}/${sha256(name)}`;
    const agent = choiceOf(row);
    const { agent_id, version, label } = agent;
    const order: Order = {
      agent_id,
      input: inputOf(row, event),
      metadata: runMetadata(row),
      on_concurrency_limit: "queue",
    };
    if (version !== null) order.version = version;
    if (label !== null) order.label = label;
    if (user_id !== null) order.user_id = user_id;
    if (budget !== null) order.budget = budget;
    const thread_id = chat === null ? null : threads.reserve(row, { agent_id, user_id, chat });
    if (thread_id !== null) Object.assign(order, { thread_id, if_thread_busy: "queue" });
    try {
      // The key of the run, so that a label that splits gives both the same version.
      const key = thread_id ?? user_id ?? "";
      if (variables) order.variables = variablesIn(row, event, variablesOf(row, agent, key));
      const { id } = await start(row, order, requestId, (run) => {
        const first = deliveries.runOf(row, keys);
        if (first !== null) throw new Duplicate(first);
        if (!triggers.ofAddress(row.id) || !isOpen(row.project_id)) throw new AppError("invalid_signature", unverified);
        deliveries.keepEvent(row, keys, run.id);
        deliveries.add(row, { outcome: "started", status: statusOf(row, "started"), run_id: run.id, reason: null });
        failpoint?.("before_trigger.started");
      });
      failpoint?.("after_trigger.started");
      return id;
    } finally {
      if (thread_id !== null) threads.release(thread_id);
    }
  }

  /** Stores why a verified event made no run, and returns the error for its sender. */
  async function fail(row: Row, cause: unknown): Promise<AppError> {
    // Only the agent is looked up without a parameter to name: a label or a version that is gone names itself.
    const error =
      isRefusal(cause, "resource_not_found") && cause.param === null
        ? new AppError("resource_not_found", agentDeleted)
        : toAppError(cause);
    const { code, message, status } = error;
    if (code === "internal_error") log.error("an event of a trigger met a bug", { trigger_id: row.id, error: cause });
    await db.write(() => addIfThere(row, { outcome: "failed", status, run_id: null, reason: `${code}: ${message}` }));
    return error;
  }

  return async function receive(id: string, request: Request, requestId: string): Promise<Receipt> {
    const { row, bytes, signed } = await admit(id, request);
    limit(row);
    try {
      return await handle(row, await eventOf(row, request.headers, bytes), signed, requestId);
    } catch (error) {
      throw await fail(row, error);
    }
  };
}

const unverified = "The request is not from a known sender: there is no such trigger, or its signature is wrong.";

const tooMany = (retryAfter: number) => new AppError("rate_limited", tooManyRequests, { retryAfter });

/** Returns the status of a response. Senders of e-mail take only 200 for a success, and repeat everything else. */
export function statusOf({ verification }: Pick<Row, "verification">, outcome: Receipt["outcome"]): 200 | 202 {
  const needs200 = verification === "shared_secret" || verification === "slack";
  return needs200 || outcome === "duplicate" || outcome === "challenge" ? 200 : 202;
}

/** Returns a trigger that no request can be signed for, in place of an unknown one: it takes as long to verify. */
function createDecoy(seal: Seal): Row {
  const scope = { project_id: "", environment: "test" as const };
  const fields = blankRow(scope, { id: "", at: 0, verification: "github" });
  const sealed = sealTriggerSecrets(seal, fields, { secret: newTriggerSecret("github"), previous: null });
  return { ...fields, sealed, has_secret: true };
}

/** Returns the event of a request. A form of GitHub is the same event as its JSON. */
async function eventOf({ verification, secret_header }: Row, headers: Headers, bytes: Uint8Array) {
  const event = await readEvent(headers, bytes, secret_header);
  const { body } = event;
  return verification === "github" && isObject(body) && isObject(body.payload)
    ? { ...event, body: body.payload }
    : event;
}

function challengeOf({ verification }: Row, { body }: TriggerEvent): string | null {
  if (verification !== "slack" || !isObject(body) || body.type !== "url_verification") return null;
  return typeof body.challenge === "string" ? body.challenge : null;
}

/**
 * Returns texts of which each names the event: its own id, and what was signed, because an id in a header may not be
 * signed and a repeated request could have another one.
 */
function keysOf(row: Row, event: TriggerEvent, signed: string | null): string[] {
  const id = textAt(event, definitionOf(row).dedupe);
  return [...(id === null ? [] : [`id/${id}`]), ...(signed === null ? [] : [`signed/${signed}`])];
}
