import { AppError } from "../../domain/errors.ts";
import type { Permission } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import { networkContains, parseCidr } from "../../lib/ip-address.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { KeyRow } from "./key.ts";

/** Scopes, agents, networks and expiry of a key; null: no restriction. */
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

/** Throws 403 for rights beyond one's own: otherwise a key could create a stronger or longer-lived one. */
export function requireSubset(own: Rights, requested: Rights): void {
  const required_scope = requested.scopes.find((scope) => !own.scopes.includes("admin") && !own.scopes.includes(scope));
  if (required_scope)
    throw refuse("scopes", `has the scope "${required_scope}", which it lacks itself`, { required_scope });
  const { agent_ids, allowed_cidrs } = own;
  if (agent_ids && !requested.agent_ids?.every((id) => agent_ids.includes(id)))
    throw refuse("agent_ids", "may use agents that it may not use itself", { bound_by: "agent_ids" });
  if (allowed_cidrs && !requested.allowed_cidrs?.every((text) => isWithin(text, allowed_cidrs)))
    throw refuse("allowed_cidrs", "may come from networks that it may not come from itself", {
      bound_by: "allowed_cidrs",
    });
  if (expiryOf(requested) > expiryOf(own))
    throw refuse(
      "expires_at",
      `lasts longer than itself: until ${timestamp(requireValue(own.expires_at_ms, "Its expiry"))}`,
      {
        bound_by: "expires_at",
      },
    );
}

/**
 * Throws 403 if a restricted key may not end or rename the target. The expiry does not matter, because any key may end
 * a leaked one.
 */
export const requireWithin = (own: Rights, target: Rights): void =>
  requireSubset(own, { ...target, expires_at_ms: own.expires_at_ms });

const refuse = (param: string, more: string, details: { required_scope: Permission } | { bound_by: Bound }) =>
  new AppError("insufficient_scope", `A key cannot make, change or end one that ${more}.`, { param, details });

/** Restrictions of a key beside its scopes. */
type Bound = "agent_ids" | "allowed_cidrs" | "expires_at";

const expiryOf = ({ expires_at_ms }: Rights): number => expires_at_ms ?? Number.POSITIVE_INFINITY;

function isWithin(text: string, networks: readonly string[]): boolean {
  const inner = parseCidr(text);
  return networks.some((each) => {
    const outer = parseCidr(each);
    return (
      inner && outer && inner.family === outer.family && inner.prefix >= outer.prefix && networkContains(outer, inner)
    );
  });
}
