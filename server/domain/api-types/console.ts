import type { Static, TSchema } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { unknownPricePolicies } from "../budget-schema.ts";
import { connectionConsentStatuses, connectionGrantTypes, tokenAuthMethods } from "../connection-auth.ts";
import { checkNames, checkResults } from "../connection-check.ts";
import { listErrorCodes } from "../listed-model.ts";
import { priceSources } from "../price.ts";
import { roles, sandboxLevels } from "./enums.ts";
import { CodedError } from "./schema.ts";

const role = t.oneOf(roles);

/** A list that is always complete on one page. */
export const allOf = <T extends TSchema>(item: T) =>
  t.object({ object: t.word("list"), data: t.list(item), has_more: t.word(false) });

export const User = t.object({ id: t.text, email: t.text, role });

/** The signed-in person, and the projects they can see. */
export const Session = t.object({
  user: User,
  projects: t.list(t.object({ id: t.text, name: t.text })),
  setup_required: t.boolean,
  version: t.text,
  /** Path on the server's machine; null if clients need no certificate. */
  ca_file: t.orNull(t.text),
  /** Address of the server for other servers, without a path. */
  public_url: t.text,
  request_id: t.text,
});
export type Session = Static<typeof Session>;

/** Ways to sign in: by password, and at an issuer, whose name is on the button. */
export const SignInWays = t.object({
  local: t.boolean,
  oidc: t.orNull(t.object({ name: t.text })),
  /** True if the server can mail a link to reset a password. */
  mail: t.boolean,
  request_id: t.text,
});
export type SignInWays = Static<typeof SignInWays>;

export const Passkey = t.object({ id: t.text, name: t.text, created_at: t.time, last_used_at: t.orNull(t.time) });
export type Passkey = Static<typeof Passkey>;

/** Sign-in factors of a person's own account. */
export const Factors = t.object({
  /** False if the person signs in at the issuer. */
  password: t.boolean,
  /** True if sign-in requires a code of an authenticator app besides the password. */
  totp: t.boolean,
  /** Number of unused codes. */
  recovery_codes: t.integer,
  passkeys: t.list(Passkey),
  request_id: t.text,
});
export type Factors = Static<typeof Factors>;

/** A session of a person; `current` is the one of this request. */
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

/** `mailed`: true if the mail server accepted it; absent without a mail server. */
export const Invitation = t.object({
  id: t.text,
  email: t.text,
  role,
  created_at: t.time,
  expires_at: t.time,
  mailed: t.optional(t.boolean),
});
export type Invitation = Static<typeof Invitation>;

/** One check of a connection's test. */
export const ConnectionCheck = t.object({
  check: t.oneOf(checkNames),
  result: t.oneOf(checkResults),
  /** Explanation: the server's own words where it refused. */
  message: t.orNull(t.text),
  /** Null if it needed no request of its own. */
  latency_ms: t.orNull(t.integer),
});
export type ConnectionCheck = Static<typeof ConnectionCheck>;

const count = t.orNull(t.integer);

/** Result of a connection's test, which takes one small request for each feature. */
export const Tried = t.object({
  ok: t.boolean,
  model: t.orNull(t.text),
  latency_ms: t.integer,
  output: t.orNull(t.text),
  /** Tokens of all requests. */
  usage: t.orNull(t.object({ input_tokens: count, output_tokens: count })),
  /** Null if a price or a number of tokens is unknown. */
  cost_usd: t.orNull(t.number),
  error: t.orNull(CodedError),
  checks: t.list(ConnectionCheck),
  /** Differences between what was asked for and what the server takes: `stream_options: …`. */
  adjustments: t.list(t.text),
});
export type Tried = Static<typeof Tried>;

/** State of the list of a connection's models. */
export const ConnectionModels = t.object({
  /** Null if the list was never read. */
  count,
  read_at: t.orNull(t.time),
  reading: t.boolean,
  error: t.orNull(t.object({ code: t.oneOf(listErrorCodes), message: t.text, detail: t.orNull(t.text) })),
});
export type ConnectionModels = Static<typeof ConnectionModels>;

/** A connection to a provider, without its key. */
export const Connection = t.object({
  id: t.text,
  name: t.text,
  provider: t.text,
  base_url: t.orNull(t.text),
  /** True if a key is stored, or set in the environment. */
  has_key: t.boolean,
  /** Maximal number of concurrent calls; null: unlimited. */
  max_concurrent: t.orNull(t.integer),
  /** Milliseconds without data during a response before it fails; null: five minutes. */
  idle_timeout_ms: t.orNull(t.integer),
  /** Asked if its models cannot answer: full names of models, or prefixes of connections. */
  fallbacks: t.list(t.text),
  /** Its models whose calls fail, longest first. `half_open`: the next call tries whether the model answers again. */
  outages: t.list(t.object({ model: t.text, state: t.oneOf(["open", "half_open"]), since: t.time, error: CodedError })),
  /** Fields that its server refused, by model, the newest first: requests leave them out, or have another form of them. */
  refusals: t.list(t.object({ model: t.text, fields: t.list(t.text), learnt_at: t.time })),
  /** Region of Amazon Bedrock. */
  region: t.orNull(t.text),
  /** Project and location of Google Vertex AI. */
  project: t.orNull(t.text),
  location: t.orNull(t.text),
  /** How it gets access tokens (OAuth 2); null: it has a key, or none. `has_key` is about its secret then. */
  auth: t.orNull(
    t.object({
      type: t.word("oauth"),
      grant: t.oneOf(connectionGrantTypes),
      issuer: t.orNull(t.text),
      authorization_endpoint: t.orNull(t.text),
      token_endpoint: t.orNull(t.text),
      revocation_endpoint: t.orNull(t.text),
      client_id: t.text,
      token_endpoint_auth_method: t.orNull(t.oneOf(tokenAuthMethods)),
      scopes: t.list(t.text),
      audience: t.orNull(t.text),
      resource: t.orNull(t.text),
    }),
  ),
  /** State of the operator's consent; null if the connection needs none. */
  consent: t.orNull(
    t.object({
      status: t.oneOf(connectionConsentStatuses),
      scopes: t.list(t.text),
      /** When the operator consented. */
      connected_at: t.orNull(t.time),
      /** When the access token ends; null: unknown. */
      expires_at: t.orNull(t.time),
      refreshed_at: t.orNull(t.time),
      /** Why it has failed. */
      error: t.orNull(CodedError),
    }),
  ),
  /** Connections of the environment cannot be changed here. */
  source: t.oneOf(["environment", "stored"]),
  /** Prefix of its models' names. */
  prefix: t.text,
  /** False for one of the environment that a stored one overrides. */
  used: t.boolean,
  created_at: t.orNull(t.time),
  updated_at: t.orNull(t.time),
  /** Number of the last change, from 1; null for one of the environment. */
  version: count,
  /** Null if it is not in use. */
  models: t.orNull(ConnectionModels),
  /** Null if it was not tested since its last change. */
  last_test: t.orNull(
    t.object({ ok: t.boolean, model: t.orNull(t.text), tested_at: t.time, error: t.orNull(CodedError) }),
  ),
});
export type Connection = Static<typeof Connection>;

/** Where an operator consents, so that a connection gets tokens. */
export const ConnectionConsent = t.object({ url: t.text, expires_at: t.time });
export type ConnectionConsent = Static<typeof ConnectionConsent>;

/** Price of a model, in USD per million tokens; its id may be `ollama/*`, for all models of a server. */
export const Price = t.object({
  id: t.text,
  available: t.boolean,
  context_window: t.orNull(t.integer),
  input: t.number,
  cached_input: t.number,
  output: t.number,
  as_of: t.orNull(t.text),
  source: t.oneOf(priceSources),
  /** Page or file that lists it; null for a price that was set. */
  reference: t.orNull(t.text),
  /** Prices above a length of the prompt. */
  long_context: t.optional(t.object({ above: t.integer, input: t.number, cached_input: t.number, output: t.number })),
});
export type Price = Static<typeof Price>;

/** The table of list prices in force; `origin` is the file or address that was loaded. */
export const PriceTable = t.object({
  object: t.word("price_table"),
  source: t.oneOf(["built_in", "table"]),
  as_of: t.text,
  origin: t.orNull(t.text),
  models: t.integer,
  loaded_at: t.orNull(t.time),
});
export type PriceTable = Static<typeof PriceTable>;

export const ServerInfo = t.object({
  version: t.text,
  commit: t.text,
  built_at: t.orNull(t.time),
  started_at: t.time,
  /** Built-in embedding models; the first is the default of stores. */
  embedding_models: t.list(t.text),
  /** Null during the test. */
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

/** A cell of the cluster, as Postgres stores it. Fields about the leader are null without one. */
const ClusterCell = t.object({
  cell: t.text,
  leader: t.orNull(t.text),
  address: t.orNull(t.text),
  lease_ms: t.orNull(t.integer),
  epoch: t.integer,
  /** Number of the newest log row. */
  head: t.integer,
  log: t.object({ rows: t.integer, ...stored }),
  pages: t.object({ pages: t.integer, ...stored }),
  /** Standby nodes and the number of rows that each lags behind. */
  spares: t.list(t.object({ name: t.text, behind: t.integer })),
  /** Projects of the cell. */
  projects: t.list(t.object({ id: t.text, name: t.text })),
});
export type ClusterCell = Static<typeof ClusterCell>;

export const ClusterInfo = t.object({
  /** The cell that this server leads. */
  cell: t.text,
  cells: t.list(ClusterCell),
  /** Last known failover of this cell. */
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

/** A project with its settings. A limit of null is the default and 0 is unlimited; null days mean for ever. */
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
