import type { Static, TSchema } from "@sinclair/typebox";
import { unknownPricePolicies } from "../core/budget-schema.ts";
import * as t from "../lib/schema.ts";
import { roles, sandboxLevels } from "./names.ts";
import { CodedError } from "./schema.ts";

const role = t.oneOf(roles);

/** All there are, on one page. */
export const allOf = <T extends TSchema>(item: T) =>
  t.object({ object: t.word("list"), data: t.list(item), has_more: t.word(false) });

export const User = t.object({ id: t.text, email: t.text, role });

/** Who is signed in at the dashboard, and what there is to see. */
export const Session = t.object({
  user: User,
  projects: t.list(t.object({ id: t.text, name: t.text })),
  setup_required: t.boolean,
  version: t.text,
  /** On the server's machine; null where its certificate needs none. */
  ca_file: t.orNull(t.text),
  request_id: t.text,
});
export type Session = Static<typeof Session>;

/** How people sign in here: by a password, and at an issuer whose name stands on the button. */
export const SignInWays = t.object({
  local: t.boolean,
  oidc: t.orNull(t.object({ name: t.text })),
  /** Who has forgotten a password is sent a link. */
  mail: t.boolean,
  request_id: t.text,
});
export type SignInWays = Static<typeof SignInWays>;

export const Passkey = t.object({ id: t.text, name: t.text, created_at: t.time, last_used_at: t.orNull(t.time) });
export type Passkey = Static<typeof Passkey>;

/** What opens the own account. */
export const Factors = t.object({
  /** False where somebody signs in at the issuer. */
  password: t.boolean,
  /** An authenticator app is asked for a code beside the password. */
  totp: t.boolean,
  /** How many are left. */
  recovery_codes: t.integer,
  passkeys: t.list(Passkey),
  request_id: t.text,
});
export type Factors = Static<typeof Factors>;

/** Where somebody is signed in; `current` is the one that asks. */
export const OpenSession = t.object({
  id: t.text,
  user_agent: t.orNull(t.text),
  ip: t.orNull(t.text),
  created_at: t.time,
  last_seen_at: t.time,
  current: t.boolean,
});
export type OpenSession = Static<typeof OpenSession>;

export const Person = t.object({ id: t.text, email: t.text, role, created_at: t.time, last_seen_at: t.orNull(t.time) });
export type Person = Static<typeof Person>;

/** `mailed`: whether the mail server has taken it; absent where there is none. */
export const Invitation = t.object({
  id: t.text,
  email: t.text,
  role,
  created_at: t.time,
  expires_at: t.time,
  mailed: t.optional(t.boolean),
});
export type Invitation = Static<typeof Invitation>;

/** How a provider is reached; its key is never told. */
export const Connection = t.object({
  id: t.text,
  name: t.text,
  provider: t.text,
  base_url: t.orNull(t.text),
  /** How many calls its server takes at once; null: as many as come. */
  max_concurrent: t.orNull(t.integer),
  /** How long its server may send nothing while it answers; null: five minutes. */
  idle_timeout_ms: t.orNull(t.integer),
  /** Those of the environment are changed where the server is started. */
  source: t.oneOf(["environment", "stored"]),
  /** What its models' names begin with. */
  prefix: t.text,
  /** False for one of the environment that a stored one goes before. */
  used: t.boolean,
  created_at: t.orNull(t.time),
});
export type Connection = Static<typeof Connection>;

/** What one tiny request to a provider came to. */
export const Tried = t.object({
  ok: t.boolean,
  model: t.orNull(t.text),
  latency_ms: t.integer,
  output: t.orNull(t.text),
  usage: t.orNull(t.object({ input_tokens: t.orNull(t.integer), output_tokens: t.orNull(t.integer) })),
  error: t.orNull(CodedError),
});
export type Tried = Static<typeof Tried>;

/** What a model costs, in USD per million tokens; its id may be `ollama/*`, for all of a server. */
export const Price = t.object({
  id: t.text,
  available: t.boolean,
  context_window: t.orNull(t.integer),
  input: t.number,
  cached_input: t.number,
  output: t.number,
  as_of: t.orNull(t.text),
  source: t.oneOf(["built_in", "operator"]),
});
export type Price = Static<typeof Price>;

export const ServerInfo = t.object({
  version: t.text,
  commit: t.text,
  built_at: t.orNull(t.time),
  started_at: t.time,
  /** Those inside the executable; stores that name none use the first. */
  embedding_models: t.list(t.text),
  /** Null while it is being tested. */
  sandbox_level: t.orNull(t.oneOf(sandboxLevels)),
  data_dir: t.orNull(t.text),
  database_bytes: t.orNull(t.integer),
  free_bytes: t.orNull(t.integer),
  disk_bytes: t.orNull(t.integer),
  /** The cell of a cluster that this server leads; null where there is no cluster. */
  cell: t.orNull(t.text),
});
export type ServerInfo = Static<typeof ServerInfo>;

const stored = { bytes: t.integer };

/** A cell of the cluster as it stands in its Postgres. What concerns its leader is null when nobody leads it. */
const ClusterCell = t.object({
  cell: t.text,
  leader: t.orNull(t.text),
  address: t.orNull(t.text),
  lease_ms: t.orNull(t.integer),
  epoch: t.integer,
  /** The newest row of its log. */
  head: t.integer,
  log: t.object({ rows: t.integer, ...stored }),
  pages: t.object({ pages: t.integer, ...stored }),
  /** Each is so many rows behind. */
  spares: t.list(t.object({ name: t.text, behind: t.integer })),
  /** Kept there. */
  projects: t.list(t.object({ id: t.text, name: t.text })),
});
export type ClusterCell = Static<typeof ClusterCell>;

export const ClusterInfo = t.object({
  /** The one that this server leads. */
  cell: t.text,
  cells: t.list(ClusterCell),
  /** Of this cell, the last that is known of. */
  failover: t.orNull(t.object({ at: t.time, detail: t.text })),
});
export type ClusterInfo = Static<typeof ClusterInfo>;

export const Backup = t.object({
  id: t.text,
  object: t.word("backup"),
  filename: t.text,
  bytes: t.integer,
  version: t.integer,
  created_at: t.time,
  expires_at: t.time,
});
export type Backup = Static<typeof Backup>;

const value = t.orNull(t.number);
const days = t.object({ runs_days: value, traces_days: value });

/** A project with its settings. A limit of null is the default and 0 is none; days of null are for ever. */
export const Project = t.object({
  id: t.text,
  name: t.text,
  created_at: t.time,
  archived_at: t.orNull(t.time),
  limits: t.object({
    reads_per_minute: value,
    run_creations_per_minute: value,
    writes_per_minute: value,
    runs_in_progress: value,
    children_per_run: value,
  }),
  retention: t.object({ test: days, live: days }),
  budget_per_day: t.object({ max_cost_usd: value, max_total_tokens: value }),
  unknown_price: t.oneOf(unknownPricePolicies),
  origins: t.list(t.text),
});
export type Project = Static<typeof Project>;
