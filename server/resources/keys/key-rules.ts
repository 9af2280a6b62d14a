import { AppError } from "../../domain/errors.ts";
import { invalid } from "../../http/errors.ts";
import type { Author } from "../../storage/db/audit.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import type { Db } from "../../storage/db/open.ts";
import { type KeyRow, keyStatus } from "./key.ts";
import { type Rights, requireSubset, requireWithin, rightsOf } from "./rights.ts";

const day_ms = 86_400_000;
const longestOverlap_ms = 30 * day_ms;
const longestLife_ms = 10 * 365 * day_ms;
/** Later than any expiry. */
const never = Number.MAX_SAFE_INTEGER;

/** Rules for changing keys. Call inside the write that makes the change, so that nothing changes in between. */
export function createKeyRules({
  db: { sqlite },
  find,
  noLongerValid,
  now,
}: {
  db: Db;
  find(author: Author, id: string): KeyRow;
  now: () => number;
  /** Returns the 401 error of a revoked or expired key, or null. */
  noLongerValid(id: string): AppError | null;
}) {
  // Rotating keys do not count, because they will end. Nor do keys that end sooner or are bound, unless the ending key
  // is bound itself: a key that lasts one minute would not prevent a lockout.
  const otherAdmins = sqlite.query<{ n: number }, [string, string, string, number, number, boolean]>(
    `SELECT count(*) AS n FROM api_keys, json_each(scopes) scope
     WHERE project_id = ? AND environment = ? AND api_keys.id <> ? AND scope.value = 'admin' AND revoked_at_ms IS NULL
       AND rotated_to IS NULL AND coalesce(expires_at_ms, ${never}) > ? AND coalesce(expires_at_ms, ${never}) >= ?
       AND (? OR agent_ids IS NULL AND allowed_cidrs IS NULL)`,
  );

  const isCurrent = (expires: number | null) => expires === null || expires > now();

  /** Throws if the key was revoked while its request's body arrived. */
  function requireStanding({ actor }: Author): void {
    const refusal = actor.type === "api_key" && noLongerValid(actor.id);
    if (refusal) throw refusal;
  }

  function requireRights(author: Author, requestedRights: Rights): void {
    if (author.actor.type === "api_key") requireSubset(rightsOf(find(author, author.actor.id)), requestedRights);
  }

  function requireReach(author: Author, target: KeyRow): void {
    if (author.actor.type === "api_key") requireWithin(rightsOf(find(author, author.actor.id)), rightsOf(target));
  }

  /** True if no admin key would remain once this key ends. */
  function isLastAdmin(row: KeyRow): boolean {
    if (!isCurrent(row.expires_at_ms) || !row.scopes.includes("admin")) return false;
    const isBound = row.agent_ids !== null || row.allowed_cidrs !== null;
    const least = isBound ? 0 : (row.expires_at_ms ?? never);
    return onlyRow(otherAdmins.get(row.project_id, row.environment, row.id, now(), least, isBound)).n === 0;
  }

  function requireAnotherAdmin(row: KeyRow): void {
    if (isLastAdmin(row))
      throw new AppError("last_admin_key", "This is the last admin key: without it no key could make another one.");
  }

  /** Returns the new expiry of a key. Throws if it is not allowed. */
  function newEnd(author: Author, row: KeyRow, text: string | null): number | null {
    const status = keyStatus(row, now());
    if (status === "revoked" || status === "expired")
      throw new AppError("key_not_active", `The key is ${status}, and stays so. Make another one.`);
    // A past time ends the key now, because it was in use until now.
    const end = text === null ? null : Math.max(Date.parse(text), now());
    const longest = now() + (status === "rotating" ? longestOverlap_ms : longestLife_ms);
    if (status === "rotating" && (end === null || end > longest))
      throw invalid("expires_at", "A key that is being rotated ends within 30 days from now.");
    if (end !== null && end > longest) throw invalid("expires_at", "Ten years from now at most.");
    const own = row.expires_at_ms ?? Number.POSITIVE_INFINITY;
    if ((end ?? Number.POSITIVE_INFINITY) > own) requireRights(author, { ...rightsOf(row), expires_at_ms: end });
    if (!isCurrent(end)) requireAnotherAdmin(row);
    return end;
  }

  return { requireStanding, requireRights, requireReach, isLastAdmin, requireAnotherAdmin, newEnd };
}
