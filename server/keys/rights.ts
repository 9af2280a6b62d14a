import { AppError } from "../core/errors.ts";
import type { Permission } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import { holds, parseCidr } from "../lib/ip-address.ts";
import type { KeyRow } from "./key.ts";

/** What a key may do, for which agents, from where, and until when; null is no bound. */
export interface Rights {
  scopes: readonly Permission[];
  agent_ids: readonly string[] | null;
  allowed_cidrs: readonly string[] | null;
  expires_at_ms: number | null;
}

export const rightsOf = ({ scopes, agent_ids, allowed_cidrs, expires_at_ms }: KeyRow): Rights => ({
  scopes,
  agent_ids,
  allowed_cidrs,
  expires_at_ms,
});

/** Throws 403 for rights beyond one's own: a key that made a stronger or a longer one would be that key itself. */
export function requireNoMore(own: Rights, asked: Rights): void {
  const required_scope = asked.scopes.find((scope) => !own.scopes.includes("admin") && !own.scopes.includes(scope));
  if (required_scope)
    throw refuse("scopes", `has the scope "${required_scope}", which it lacks itself`, { required_scope });
  if (own.agent_ids && !asked.agent_ids?.every((id) => own.agent_ids!.includes(id)))
    throw refuse("agent_ids", "may use agents that it may not use itself", { bound_by: "agent_ids" });
  if (own.allowed_cidrs && !asked.allowed_cidrs?.every((text) => isWithin(text, own.allowed_cidrs!)))
    throw refuse("allowed_cidrs", "may come from networks that it may not come from itself", {
      bound_by: "allowed_cidrs",
    });
  if (lasts(asked) > lasts(own))
    throw refuse("expires_at", `lasts longer than itself: until ${timestamp(own.expires_at_ms!)}`, {
      bound_by: "expires_at",
    });
}

/** Throws 403 for what a bounded key may not end or rename. How long each lasts says nothing: a leak is anybody's to end. */
export const requireWithin = (own: Rights, target: Rights): void =>
  requireNoMore(own, { ...target, expires_at_ms: own.expires_at_ms });

const refuse = (param: string, more: string, details: { required_scope: Permission } | { bound_by: Bound }) =>
  new AppError("insufficient_scope", `A key cannot make, change or end one that ${more}.`, { param, details });

/** What may bind a key, whatever its scopes. */
type Bound = "agent_ids" | "allowed_cidrs" | "expires_at";

const lasts = ({ expires_at_ms }: Rights): number => expires_at_ms ?? Number.POSITIVE_INFINITY;

function isWithin(text: string, networks: readonly string[]): boolean {
  const inner = parseCidr(text);
  return networks.some((each) => {
    const outer = parseCidr(each);
    return inner && outer && inner.family === outer.family && inner.prefix >= outer.prefix && holds(outer, inner);
  });
}
