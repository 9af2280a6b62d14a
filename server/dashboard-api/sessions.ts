import { and, desc, eq, lte, not, or } from "drizzle-orm";
import type { OpenSession } from "../domain/api-types/console.ts";
import { notFound } from "../domain/not-found.ts";
import { timestamp } from "../domain/time.ts";
import { randomToken } from "../lib/random-token.ts";
import { requireValue } from "../lib/require-value.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { sessions } from "../storage/db/schema.ts";
import type { Origin, User } from "./accounts.ts";
import { newConsoleId } from "./console-id.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const idle_ms = 12 * 3_600_000;
const absolute_ms = 7 * 24 * 3_600_000;
/** Precision of `last_seen_at_ms`, because a write per request would be too expensive. */
const seenEvery_ms = 60_000;

type Row = User & Pick<typeof sessions.$inferSelect, "created_at_ms" | "last_seen_at_ms">;

const userAgentMax = 400;

/** True for requests that an open page makes by itself; the dashboard marks them by this header (lib/attention.ts). */
const isUnattended = ({ headers }: Request): boolean => headers.get("x-runnel-unattended") === "1";

/** Sessions of the dashboard. Only hashes are stored, so that a copy of the database opens no session. */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({
  db,
  audit,
  personOf = () => null,
  now = Date.now,
}: StoreBase & {
  /** Returns the person of a forwarded request; null if it was not forwarded or has no session. */
  personOf?: (request: Request) => User | null;
}) {
  const { orm } = db;
  const byHash = (token: string) => eq(sessions.hash, sha256Bytes(token));
  // Prepared, because it runs for each request of the dashboard.
  const select = db.sqlite.query<Row, [Uint8Array]>(
    `SELECT u.id, u.email, u.role, s.created_at_ms, s.last_seen_at_ms
     FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = ?`,
  );
  const isOpen = ({ created_at_ms, last_seen_at_ms }: Pick<Row, "created_at_ms" | "last_seen_at_ms">): boolean =>
    now() - last_seen_at_ms < idle_ms && now() - created_at_ms < absolute_ms;

  const touch = (token: string): Promise<unknown> =>
    db.write(() => orm.update(sessions).set({ last_seen_at_ms: now() }).where(byHash(token)).run());

  /** Returns the user of an open session, or null. Not cached, so that signing out takes effect at once. */
  function find(token: string | null): User | null {
    const row = token === null ? null : select.get(sha256Bytes(token));
    return row && isOpen(row) ? { id: row.id, email: row.email, role: row.role } : null;
  }

  const note = (action: string, id: string, origin: Origin): void =>
    audit.note({ actor: { type: "user", id, ...origin } }, action, id);

  return {
    find,

    /** Like `find`, and extends the session unless the page made the request by itself. */
    use(token: string | null, request: Request): User | null {
      const person = personOf(request);
      if (person) return person;
      const user = find(token);
      if (!user || token === null) return null;
      if (isUnattended(request)) return user;
      // Ignore a failed write, because a full disk must not sign people out. The next request retries.
      if (now() - requireValue(select.get(sha256Bytes(token)), "The session").last_seen_at_ms > seenEvery_ms)
        touch(token).catch(() => {});
      return user;
    },

    /** True if the person is still signed in. Forwarded requests are checked by the node that forwards them. */
    lasts: (token: string | null, request: Request): boolean => personOf(request) !== null || find(token) !== null,

    /** Opens a session and returns its token, which is stored in the cookie only. */
    async open(userId: string, origin: Origin, userAgent: string | null): Promise<string> {
      const token = randomToken();
      await db.write(() => {
        const { last_seen_at_ms, created_at_ms } = sessions;
        const isOver = or(lte(last_seen_at_ms, now() - idle_ms), lte(created_at_ms, now() - absolute_ms));
        orm.delete(sessions).where(isOver).run();
        const row = { hash: sha256Bytes(token), id: newConsoleId("session", now()), user_id: userId, ip: origin.ip };
        const user_agent = userAgent?.slice(0, userAgentMax);
        orm
          .insert(sessions)
          .values({ ...row, user_agent, created_at_ms: now(), last_seen_at_ms: now() })
          .run();
        note("user.signed_in", userId, origin);
      });
      return token;
    },

    /** Closes a session. Without `origin` it is replaced by a newer one and not recorded as a sign-out. */
    async close(token: string | null, origin?: Origin): Promise<void> {
      if (token === null) return;
      await db.write(() => {
        const user = find(token);
        orm.delete(sessions).where(byHash(token)).run();
        if (user && origin) note("user.signed_out", user.id, origin);
      });
    },

    /** Returns the open sessions of a user, last used first. */
    list(userId: string, token: string): OpenSession[] {
      const own = Buffer.from(sha256Bytes(token));
      return orm
        .select()
        .from(sessions)
        .where(eq(sessions.user_id, userId))
        .orderBy(desc(sessions.last_seen_at_ms), desc(sessions.id))
        .all()
        .filter(isOpen)
        .map(({ hash, id, user_agent, ip, created_at_ms, last_seen_at_ms }) => ({
          id,
          user_agent,
          ip,
          created_at: timestamp(created_at_ms),
          last_seen_at: timestamp(last_seen_at_ms),
          current: own.equals(hash),
        }));
    },

    /** Ends one session of a user. */
    async end(userId: string, id: string, actor: Actor): Promise<void> {
      await db.write(() => {
        const own = and(eq(sessions.user_id, userId), eq(sessions.id, id));
        if (!orm.delete(sessions).where(own).returning().get()) throw notFound();
        audit.note({ actor }, "user.sessions_ended", userId, { sessions: 1 });
      });
    },

    /** Ends all sessions of a user but the one of `token`, and returns their number. */
    endOthers: (userId: string, token: string, actor: Actor): Promise<number> =>
      db.write(() => {
        const others = and(eq(sessions.user_id, userId), not(byHash(token)));
        const { length } = orm.delete(sessions).where(others).returning({ id: sessions.id }).all();
        if (length > 0) audit.note({ actor }, "user.sessions_ended", userId, { sessions: length });
        return length;
      }),
  };
}
