import type { AgentChoice } from "../../domain/agent-label.ts";
import type { TriggerVerification } from "../../domain/api-types/enums.ts";
import { changeable } from "../../domain/api-types/schema.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import type { Scope } from "../../domain/scope.ts";
import { timestamp, timestampOrNull } from "../../domain/time.ts";
import type { eventTriggers, triggerDeliveries } from "../../storage/db/schema.ts";
import type { VariableTemplates } from "./event-variables.ts";
import type { Condition } from "./filter.ts";
import type { UpdateTrigger } from "./schema.ts";

/** A trigger row. */
export type Row = typeof eventTriggers.$inferSelect;
type DeliveryRow = typeof triggerDeliveries.$inferSelect;

/** How an event becomes a run. */
export interface Definition {
  /** The agent's version, or the label that chooses it. Absent in triggers of earlier versions. */
  version?: number | null;
  label?: string | null;
  input: string | null;
  /** Absent: none. */
  variables?: VariableTemplates | null;
  on_missing: "empty" | "reject";
  filter: Condition[];
  dedupe: string | null;
  thread: string | null;
  user: string | null;
  budget: Budget | null;
}

export const definitionOf = ({ definition }: Pick<Row, "definition">): Definition => definition as Definition;

/** Returns the agent of a trigger's runs, and which version of it they get. */
export function choiceOf(row: Pick<Row, "agent_id" | "definition">): AgentChoice {
  const { version = null, label = null } = definitionOf(row);
  return { agent_id: row.agent_id, version, label };
}

/** Where senders have the ids of their events. */
export const dedupeDefaults: Record<TriggerVerification, string | null> = {
  github: "headers.x-github-delivery",
  stripe: "body.id",
  slack: "body.event_id",
  standard_webhooks: "headers.webhook-id",
  shared_secret: null,
};

export const defaultRateLimit = 60;

type NewRow = Omit<Row, "sealed" | "has_secret">;

/** Returns a row with the defaults of its verification. */
export const blankRow = (
  { project_id, environment }: Scope,
  { id, at, verification }: { id: string; at: number; verification: TriggerVerification },
): NewRow => ({
  project_id,
  environment,
  id,
  name: "",
  agent_id: "",
  verification,
  secret_header: null,
  previous_until_ms: null,
  definition: {
    input: null,
    on_missing: "empty",
    filter: [],
    dedupe: dedupeDefaults[verification],
    thread: null,
    user: null,
    budget: null,
  } satisfies Definition,
  enabled: true,
  rate_limit_per_minute: defaultRateLimit,
  last_run_id: null,
  last_event_at_ms: null,
  metadata: {},
  created_at_ms: at,
  updated_at_ms: at,
});

/** Applies an update to a row. Absent fields stay. */
export function applyInput<R extends NewRow>(row: R, input: UpdateTrigger): R {
  const { name, agent_id, secret_header, enabled, rate_limit_per_minute, metadata, ...own } = input;
  const columns = { name, agent_id, secret_header, enabled, rate_limit_per_minute, metadata };
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return { ...row, ...given, definition: { ...definitionOf(row), ...own } };
}

const maxPairs = 16;

/** Metadata of a trigger's runs: its own plus its id, for lookup, unless overridden or full. */
export const runMetadata = ({ id, metadata }: Pick<Row, "id" | "metadata">): Record<string, string> =>
  Object.keys(metadata).length < maxPairs ? { trigger_id: id, ...metadata } : metadata;

/** Serializes a trigger for clients. */
export function serializeTrigger(row: Row, url: string) {
  const { version, label } = choiceOf(row);
  const { input, variables = null, on_missing, filter, dedupe, thread, user, budget } = definitionOf(row);
  return {
    id: row.id,
    object: "trigger" as const,
    name: row.name,
    agent_id: row.agent_id,
    version,
    label,
    url,
    verification: row.verification,
    secret_header: row.secret_header,
    has_secret: row.has_secret,
    previous_secret_expires_at: timestampOrNull(row.previous_until_ms),
    enabled: row.enabled,
    input,
    variables,
    on_missing,
    filter,
    dedupe,
    thread,
    user,
    budget,
    rate_limit_per_minute: row.rate_limit_per_minute,
    last_run_id: row.last_run_id,
    last_event_at: timestampOrNull(row.last_event_at_ms),
    ...changeable(row),
  };
}

/** Serializes a delivery for clients. */
export const serializeDelivery = (row: DeliveryRow) => ({
  id: row.id,
  object: "trigger_delivery" as const,
  trigger_id: row.trigger_id,
  outcome: row.outcome,
  status: row.status,
  run_id: row.run_id,
  reason: row.reason,
  metadata: {},
  created_at: timestamp(row.created_at_ms),
  project_id: row.project_id,
  environment: row.environment,
});
