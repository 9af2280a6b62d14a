import type { Db } from "../../db/open.ts";
import { createReader } from "../../db/rows.ts";
import { mcpSessions } from "../../db/schema.ts";
import type { Principal } from "../../http/principal.ts";
import type { Peer } from "./protocol.ts";

type Row = Pick<typeof mcpSessions.$inferSelect, "version" | "elicits" | "expires_at_ms">;

const idle_ms = 24 * 3_600_000;
const mostOfAsker = 100;
const expiredAtOnce = 100;

export type Sessions = ReturnType<typeof createSessions>;

/** Who connected. A session ends 12 to 24 hours after it was last used. Of a key or token the newest hundred. */
export function createSessions({ db, now }: { db: Db; now: () => number }) {
  const { sqlite } = db;
  const toRow = createReader(mcpSessions);
  const select = sqlite.query<Record<string, unknown>, [string, string, string, string, string, number]>(
    `SELECT version, elicits, expires_at_ms FROM mcp_sessions
     WHERE project_id = ? AND environment = ? AND id = ? AND asker = ? AND address = ? AND expires_at_ms > ?`,
  );
  const insert = sqlite.query(
    `INSERT INTO mcp_sessions (project_id, environment, id, asker, address, version, elicits, expires_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const deleteMore = sqlite.query(
    `DELETE FROM mcp_sessions WHERE project_id = ?1 AND environment = ?2 AND id IN
       (SELECT id FROM mcp_sessions WHERE project_id = ?1 AND environment = ?2 AND asker = ?3
        ORDER BY expires_at_ms DESC LIMIT -1 OFFSET ${mostOfAsker})`,
  );
  const prolong = sqlite.query(
    "UPDATE mcp_sessions SET expires_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?",
  );
  const remove = sqlite.query("DELETE FROM mcp_sessions WHERE project_id = ? AND environment = ? AND id = ?");
  const deleteExpired = sqlite.query(
    `DELETE FROM mcp_sessions WHERE rowid IN
       (SELECT rowid FROM mcp_sessions WHERE expires_at_ms <= ? ORDER BY expires_at_ms LIMIT ?)`,
  );

  return {
    async open(principal: Principal, address: string, peer: Omit<Peer, "session">) {
      const { project_id, environment } = principal;
      const [id, asker] = [crypto.randomUUID(), askerOf(principal)];
      await db.write(() => {
        insert.run(project_id, environment, id, asker, address, peer.version, Number(peer.elicits), now() + idle_ms);
        deleteMore.run(project_id, environment, asker);
        deleteExpired.run(now(), expiredAtOnce);
      });
      return id;
    },
    /** Null for a session that is over, never was, or is somebody else's. */
    find(principal: Principal, address: string, id: string): Peer | null {
      const { project_id, environment } = principal;
      const row = select.get(project_id, environment, id, askerOf(principal), address, now());
      if (!row) return null;
      const { version, elicits, expires_at_ms } = toRow(row) as Row;
      // Not at each request: a write is dearer than all the rest.
      if (expires_at_ms - now() < idle_ms / 2)
        void db.write(() => prolong.run(now() + idle_ms, project_id, environment, id)).catch(() => {});
      return { version, elicits, session: id };
    },
    close: ({ project_id, environment }: Principal, id: string): Promise<void> =>
      db.write(() => void remove.run(project_id, environment, id)),
  };
}

/** Each page has a token of its own: what one opens is not the others', nor do they lose theirs by it. */
const askerOf = ({ id, token }: Principal): string => token?.id ?? id;
