import type { Budget } from "../core/budget-schema.ts";
import type { ClientScope, Permission, Scope } from "../core/scope.ts";
import type { Actor } from "../db/audit.ts";
import type { Counted, RateLimits } from "./rate-limit.ts";

/** What a client token sees of its agent's things: one run, one thread, or all that is for one user. */
export interface Bounds {
  readonly run_id: string | null;
  readonly thread_id: string | null;
  /** Whom its runs are for; null only where it is bound to a run, or to a thread of nobody. */
  readonly user_id: string | null;
}

/** What somebody has who was given a part of a key's rights for a while: it acts for one agent. */
export interface ClientToken extends Bounds {
  readonly id: string;
  readonly scopes: ReadonlySet<ClientScope>;
  /** How often it may ask: its own share, and one that it has in common with others. */
  readonly shares: readonly Share[];
  /** The agent whose chat page gave it, which is counted apart from the project; absent where a key made it. */
  readonly page?: string;
  /** The person at the dashboard whom a chat page for members gave it to; absent for all others. */
  readonly person?: string;
  /** Whether it is of somebody who is nobody's user: they see what is said, and nothing of how the project works. */
  readonly is_visitor: boolean;
  /** What each run that it starts may spend at most; null: what its agent may. */
  readonly budget: Budget | null;
  readonly expires_at_ms: number;
}

/** How often a client token may ask, within what its project or its page may. */
export interface ClientLimits {
  readonly requests_per_minute: number;
  readonly run_creations_per_minute: number;
}

/** What is counted under a name. */
export interface Share {
  readonly of: Exclude<Counted, "address">;
  readonly name: string;
  readonly limits: ClientLimits & { readonly runs_per_day?: number };
  /** How long ago, in ms and the longest first, the stored runs of the last `span_ms` began; absent where nobody asks. */
  readonly runsBefore?: (span_ms: number) => number[];
}

/** Who somebody turned out to be, and what they may do. */
export interface Identity extends Scope {
  readonly kind: "key" | "user";
  readonly id: string;
  readonly scopes: ReadonlySet<Permission>;
  /** The only agents that a key may use; null is all. */
  readonly agent_ids: readonly string[] | null;
  /** Of a client token: what it is bound to, and what it may do. Its `id` is that of the key that made it. */
  readonly token?: ClientToken;
  /** Limits of the project that differ from the defaults. */
  readonly limits: Partial<RateLimits>;
  /** Sees what concerns the whole server, beside the project. */
  readonly operator?: boolean;
}

/** Who asks: an API key, or a person at the dashboard. It is the scope of everything that they reach. */
export interface Principal extends Identity {
  /** The same as the audit log names them. */
  readonly actor: Actor;
}
