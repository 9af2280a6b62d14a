import type { Budget } from "../domain/budget-schema.ts";
import type { ClientScope, Permission, Scope } from "../domain/scope.ts";
import type { VariableValues } from "../domain/variable.ts";
import type { Actor } from "../storage/db/audit.ts";
import type { CounterKind, RateLimits } from "./rate-limit.ts";

/** Restriction of a client token: one run, one thread, or one user. */
export interface Bounds {
  readonly run_id: string | null;
  readonly thread_id: string | null;
  /** User of its runs; null only if it is bound to a run, or to a thread without a user. */
  readonly user_id: string | null;
  /** Values of variables for its runs, which nothing else replaces. */
  readonly variables?: VariableValues;
}

/** A temporary token with a part of a key's rights, for one agent. */
export interface ClientToken extends Bounds {
  readonly id: string;
  readonly scopes: ReadonlySet<ClientScope>;
  /** Rate limits: its own, and one shared with other tokens. */
  readonly shares: readonly Share[];
  /** The agent whose chat page issued the token, counted separately from the project; absent if a key issued it. */
  readonly page?: string;
  /** The dashboard user to whom a chat page for members issued it; else absent. */
  readonly person?: string;
  /** True for an anonymous chat visitor, who sees messages but no internals of the project. */
  readonly is_visitor: boolean;
  /** The agent's version for its runs, or the label that chooses it; without both, the newest. */
  readonly version?: number | null;
  readonly label?: string | null;
  /** Maximum spend per run; null: the agent's limit. */
  readonly budget: Budget | null;
  readonly expires_at_ms: number;
}

/** Rate limits of a client token, within those of its project or page. */
export interface ClientLimits {
  readonly requests_per_minute: number;
  readonly run_creations_per_minute: number;
}

/** A named rate limit. */
export interface Share {
  readonly of: Exclude<CounterKind, "address">;
  readonly name: string;
  readonly limits: ClientLimits & { readonly runs_per_day?: number };
  /** Returns the ages in ms, longest first, of the stored runs started in the last `span_ms`; absent if not needed. */
  readonly runsBefore?: (span_ms: number) => number[];
}

/** An authenticated caller with its permissions. */
export interface Identity extends Scope {
  readonly kind: "key" | "user";
  readonly id: string;
  readonly scopes: ReadonlySet<Permission>;
  /** Agents that the key may use; null: all. */
  readonly agent_ids: readonly string[] | null;
  /** Set for client tokens; `id` is then the key that issued the token. */
  readonly token?: ClientToken;
  /** Project limits that differ from the defaults. */
  readonly limits: Partial<RateLimits>;
  /** True if the user may also see server-wide data. */
  readonly operator?: boolean;
}

/** Caller of a request: an API key or a dashboard user. Also the scope of all it can reach. */
export interface Principal extends Identity {
  /** The caller as named in the audit log. */
  readonly actor: Actor;
}
