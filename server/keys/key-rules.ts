import { AppError } from "../core/errors.ts";
import type { Author } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { invalid } from "../http/errors.ts";
import { type KeyRow, keyStatus } from "./key.ts";
import { type Rights, requireNoMore, requireWithin, rightsOf } from "./rights.ts";

const day_ms = 86_400_000;
const longestOverlap_ms = 30 * day_ms;
const longestLife_ms = 10 * 365 * day_ms;
/** Later than any end. */
const never = Number.MAX_SAFE_INTEGER;

/** Who may do what with which key. All within the write that does it, so that nothing changes in between. */
export function createKeyRules({
  db: { sqlite },
  find,
  noLongerValid,
  now,
}: {
  db: Pick<Db, "sqlite">;
  find(author: Author, id: string): KeyRow;
  now: () => number;
  /** Whether a key was revoked or has ended, as whoever asks with it is told. */
  noLongerValid(id: string): AppError | null;
}) {
  // One that is being rotated does not count: its end is settled, and nobody would be left then. Nor does one that ends
  // sooner or is bounded, unless the one that goes is bounded itself: a key of a minute would be no way back.
  const otherAdmins = sqlite.query<{ n: number }, [string, string, string, number, number, boolean]>(
    `SELECT count(*) AS n FROM api_keys, json_each(scopes) scope
     WHERE project_id = ? AND environment = ? AND api_keys.id <> ? AND scope.value = 'admin' AND revoked_at_ms IS NULL
       AND rotated_to IS NULL AND coalesce(expires_at_ms, ${never}) > ? AND coalesce(expires_at_ms, ${never}) >= ?
       AND (? OR agent_ids IS NULL AND allowed_cidrs IS NULL)`,
  );

  const isCurrent = (expires: number | null) => expires === null || expires > now();

  /** A body may take its time: a key that was revoked meanwhile changes nothing any more. */
  function requireStanding({ actor }: Author): void {
    const refusal = actor.type === "api_key" && noLongerValid(actor.id);
    if (refusal) throw refusal;
  }

  function requireRights(author: Author, asked: Rights): void {
    if (author.actor.type === "api_key") requireNoMore(rightsOf(find(author, author.actor.id)), asked);
  }

  function requireReach(author: Author, target: KeyRow): void {
    if (author.actor.type === "api_key") requireWithin(rightsOf(find(author, author.actor.id)), rightsOf(target));
  }

  /** Whether nobody could make a key any more once this one has ended. */
  function isLastAdmin(row: KeyRow): boolean {
    if (!isCurrent(row.expires_at_ms) || !row.scopes.includes("admin")) return false;
    const isBound = row.agent_ids !== null || row.allowed_cidrs !== null;
    const least = isBound ? 0 : (row.expires_at_ms ?? never);
    return otherAdmins.get(row.project_id, row.environment, row.id, now(), least, isBound)!.n === 0;
  }

  function requireAnotherAdmin(row: KeyRow): void {
    if (isLastAdmin(row))
      throw new AppError("last_admin_key", "This is the last admin key: without it nobody could make another one.");
  }

  /** When a key shall end; throws for an end that it cannot have. */
  function newEnd(author: Author, row: KeyRow, text: string | null): number | null {
    const status = keyStatus(row, now());
    if (status === "revoked" || status === "expired")
      throw new AppError("key_not_active", `The key is ${status}, and stays so. Make another one.`);
    // What is past ends it now: it was in use until now.
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
