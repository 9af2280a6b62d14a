import { timestamp } from "../core/time.ts";
import type { Actor, Audit } from "../db/audit.ts";
import type { Db } from "../db/open.ts";
import { notFound } from "../http/not-found.ts";
import type { Origin, User } from "./accounts.ts";
import { newConsoleId } from "./console-id.ts";
import { randomToken } from "./random-token.ts";
import { sha256Bytes } from "./sha256-bytes.ts";

const idle_ms = 12 * 3_600_000;
const absolute_ms = 7 * 24 * 3_600_000;
/** How exactly `last_seen_at_ms` is kept: a write per request would be too dear. */
const seenEvery_ms = 60_000;

interface Row extends User {
  created_at_ms: number;
  last_seen_at_ms: number;
}

/** Where somebody is signed in, as that person sees it. */
interface SessionInfo {
  id: string;
  user_agent: string | null;
  ip: string | null;
  created_at: string;
  last_seen_at: string;
  /** The one that asks. */
  current: boolean;
}

interface Stored extends Omit<SessionInfo, "created_at" | "last_seen_at" | "current"> {
  hash: Uint8Array;
  created_at_ms: number;
  last_seen_at_ms: number;
}

const userAgentMax = 400;

/** A page that is open reads on with nobody at it; the dashboard says so by this header (lib/attention.ts). */
const isUnattended = ({ headers }: Request): boolean => headers.get("x-runnel-unattended") === "1";

/** Who is signed in at the dashboard. Only hashes are stored: a copy of the database opens no session. */
export type Sessions = ReturnType<typeof createSessions>;

export function createSessions({ db, audit, now = Date.now }: { db: Db; audit: Audit; now?: () => number }) {
  const select = db.sqlite.query<Row, [Uint8Array]>(
    `SELECT u.id, u.email, u.role, s.created_at_ms, s.last_seen_at_ms
     FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.hash = ?`,
  );
  const selectOf = db.sqlite.query<Stored, [string]>(
    "SELECT * FROM sessions WHERE user_id = ? ORDER BY last_seen_at_ms DESC, id DESC",
  );
  const isOpen = ({ created_at_ms, last_seen_at_ms }: Pick<Row, "created_at_ms" | "last_seen_at_ms">): boolean =>
    now() - last_seen_at_ms < idle_ms && now() - created_at_ms < absolute_ms;

  const touch = (hash: Uint8Array): Promise<unknown> =>
    db.write(() => db.sqlite.query("UPDATE sessions SET last_seen_at_ms = ? WHERE hash = ?").run(now(), hash));

  /** The user of an open session, or null. Asked of the database every time, so that signing out counts at once. */
  function find(token: string | null): User | null {
    const row = token === null ? null : select.get(sha256Bytes(token));
    return row && isOpen(row) ? { id: row.id, email: row.email, role: row.role } : null;
  }

  const note = (action: string, id: string, origin: Origin): void =>
    audit.note({ scope: null, actor: { type: "user", id, ...origin }, action, target: { type: "user", id } });

  const noteEnded = (id: string, actor: Actor, sessions: number): void =>
    audit.note({
      scope: null,
      actor,
      action: "user.sessions_ended",
      target: { type: "user", id },
      details: { sessions },
    });

  return {
    find,

    /** As `find`, and keeps the session from becoming idle, unless the page asks by itself. */
    use(token: string | null, request: Request): User | null {
      const user = find(token);
      if (!user || token === null) return null;
      if (isUnattended(request)) return user;
      const hash = sha256Bytes(token);
      // A full disk must not sign anybody out: the next request tries again.
      if (now() - select.get(hash)!.last_seen_at_ms > seenEvery_ms) touch(hash).catch(() => {});
      return user;
    },

    /** Opens a session and gives its token, which stands in the cookie and nowhere else. */
    async open(userId: string, origin: Origin, userAgent: string | null): Promise<string> {
      const token = randomToken();
      await db.write(() => {
        db.sqlite
          .query("DELETE FROM sessions WHERE last_seen_at_ms <= ? OR created_at_ms <= ?")
          .run(now() - idle_ms, now() - absolute_ms);
        db.sqlite
          .query("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?)")
          .run(
            ...[sha256Bytes(token), newConsoleId("session", now()), userId],
            ...[userAgent?.slice(0, userAgentMax) ?? null, origin.ip, now(), now()],
          );
        note("user.signed_in", userId, origin);
      });
      return token;
    },

    /** Without an origin nobody signs out: a newer session takes its place. */
    async close(token: string | null, origin?: Origin): Promise<void> {
      if (token === null) return;
      await db.write(() => {
        const user = find(token);
        db.sqlite.query("DELETE FROM sessions WHERE hash = ?").run(sha256Bytes(token));
        if (user && origin) note("user.signed_out", user.id, origin);
      });
    },

    /** The open sessions of somebody, the newest use first. */
    list(userId: string, token: string): SessionInfo[] {
      const own = Buffer.from(sha256Bytes(token));
      return selectOf
        .all(userId)
        .filter(isOpen)
        .map(({ hash, id, user_agent, ip, created_at_ms, last_seen_at_ms }) => ({
          ...{ id, user_agent, ip, created_at: timestamp(created_at_ms), last_seen_at: timestamp(last_seen_at_ms) },
          current: own.equals(hash),
        }));
    },

    /** Ends one of somebody's sessions. */
    async end(userId: string, id: string, actor: Actor): Promise<void> {
      await db.write(() => {
        const { changes } = db.sqlite.query("DELETE FROM sessions WHERE user_id = ? AND id = ?").run(userId, id);
        if (changes === 0) throw notFound();
        noteEnded(userId, actor, 1);
      });
    },

    /** Ends all of somebody's sessions but the one that `token` opened, and answers how many. */
    endOthers: (userId: string, token: string, actor: Actor): Promise<number> =>
      db.write(() => {
        const { changes } = db.sqlite
          .query("DELETE FROM sessions WHERE user_id = ? AND hash <> ?")
          .run(userId, sha256Bytes(token));
        if (changes > 0) noteEnded(userId, actor, changes);
        return changes;
      }),
  };
}
