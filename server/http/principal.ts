import type { Permission, Scope } from "../core/scope.ts";
import type { Actor } from "../db/audit.ts";
import type { RateLimits } from "./rate-limit.ts";

/** Who somebody turned out to be, and what they may do. */
export interface Identity extends Scope {
  readonly kind: "key" | "user";
  readonly id: string;
  readonly scopes: ReadonlySet<Permission>;
  /** The only agents that a key may use; null is all. */
  readonly agent_ids: readonly string[] | null;
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
