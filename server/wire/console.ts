import type { Static } from "@sinclair/typebox";
import { unknownPricePolicies } from "../core/budget.ts";
import { roles, sandboxLevels } from "./names.ts";
import { boolean, CodedError, integer, list, number, object, oneOf, orNull, text, time } from "./schema.ts";

const role = oneOf(roles);

/** Who is signed in at the dashboard, and what there is to see. */
export const Session = object({
  user: object({ id: text, email: text, role }),
  projects: list(object({ id: text, name: text })),
  setup_required: boolean,
  version: text,
  /** On the server's machine; null where its certificate needs none. */
  ca_file: orNull(text),
  request_id: text,
});
export type Session = Static<typeof Session>;

/** Where somebody is signed in; `current` is the one that asks. */
export const OpenSession = object({
  id: text,
  user_agent: orNull(text),
  ip: orNull(text),
  created_at: time,
  last_seen_at: time,
  current: boolean,
});
export type OpenSession = Static<typeof OpenSession>;

export const Person = object({ id: text, email: text, role, created_at: time, last_seen_at: orNull(time) });
export type Person = Static<typeof Person>;

export const Invitation = object({ id: text, email: text, role, created_at: time, expires_at: time });
export type Invitation = Static<typeof Invitation>;

/** How a provider is reached; its key is never told. */
export const Connection = object({
  id: text,
  name: text,
  provider: text,
  base_url: orNull(text),
  /** How many calls its server takes at once; null: as many as come. */
  max_concurrent: orNull(integer),
  /** Those of the environment are changed where the server is started. */
  source: oneOf(["environment", "stored"]),
  /** What its models' names begin with. */
  prefix: text,
  /** False for one of the environment that a stored one goes before. */
  used: boolean,
  created_at: orNull(time),
});
export type Connection = Static<typeof Connection>;

/** What one tiny request to a provider came to. */
export const Tried = object({
  ok: boolean,
  model: orNull(text),
  latency_ms: integer,
  output: orNull(text),
  usage: orNull(object({ input_tokens: orNull(integer), output_tokens: orNull(integer) })),
  error: orNull(CodedError),
});
export type Tried = Static<typeof Tried>;

/** What a model costs, in USD per million tokens; its id may be `ollama/*`, for all of a server. */
export const Price = object({
  id: text,
  available: boolean,
  context_window: orNull(integer),
  input: number,
  cached_input: number,
  output: number,
  as_of: orNull(text),
  source: oneOf(["built_in", "operator"]),
});
export type Price = Static<typeof Price>;

export const ServerInfo = object({
  version: text,
  commit: text,
  built_at: orNull(time),
  started_at: time,
  /** Null while it is being tested. */
  sandbox_level: orNull(oneOf(sandboxLevels)),
  data_dir: orNull(text),
  database_bytes: orNull(integer),
  free_bytes: orNull(integer),
  disk_bytes: orNull(integer),
});
export type ServerInfo = Static<typeof ServerInfo>;

export const Backup = object({
  id: text,
  filename: text,
  bytes: integer,
  version: integer,
  created_at: time,
  expires_at: time,
});
export type Backup = Static<typeof Backup>;

const value = orNull(number);
const days = object({ runs_days: value, traces_days: value });

/** A project with its settings. A limit of null is the default and 0 is none; days of null are for ever. */
export const Project = object({
  id: text,
  name: text,
  created_at: time,
  archived_at: orNull(time),
  limits: object({
    reads_per_minute: value,
    run_creations_per_minute: value,
    writes_per_minute: value,
    runs_in_progress: value,
    children_per_run: value,
  }),
  retention: object({ test: days, live: days }),
  budget_per_day: object({ max_cost_usd: value, max_total_tokens: value }),
  unknown_price: oneOf(unknownPricePolicies),
});
export type Project = Static<typeof Project>;
