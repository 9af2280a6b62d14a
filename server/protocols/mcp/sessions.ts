import type { Principal } from "../../http/principal.ts";
import type { Db } from "../../storage/db/open.ts";
import { mcpSessions } from "../../storage/db/schema.ts";
import { createReader } from "../../storage/db/scoped-table.ts";
import type { Peer } from "./protocol.ts";

type Row = Pick<typeof mcpSessions.$inferSelect, "version" | "elicits" | "expires_at_ms">;

const idle_ms = 24 * 3_600_000;
const mostOfAsker = 100;
const expiredAtOnce = 100;

export type Sessions = ReturnType<typeof createSessions>;

/** Sessions of clients. Each expires 12 to 24 hours after its last use; a key or token keeps its newest hundred. */
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
    /** Returns null if the session is over, unknown, or of another key or token. */
    find(principal: Principal, address: string, id: string): Peer | null {
      const { project_id, environment } = principal;
      const row = select.get(project_id, environment, id, askerOf(principal), address, now());
      if (!row) return null;
      const { version, elicits, expires_at_ms } = toRow(row) as Row;
      // Not at each request, because a write costs more than the rest of it.
      if (expires_at_ms - now() < idle_ms / 2)
        void db.write(() => prolong.run(now() + idle_ms, project_id, environment, id)).catch(() => {});
      return { version, elicits, session: id };
    },
    close: ({ project_id, environment }: Principal, id: string): Promise<void> =>
      db.write(() => void remove.run(project_id, environment, id)),
  };
}

/** Sessions belong to a client token, not to its key, so that pages cannot use or evict each other's. */
const askerOf = ({ id, token }: Principal): string => token?.id ?? id;
