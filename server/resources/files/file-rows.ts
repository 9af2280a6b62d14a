import { sql } from "drizzle-orm";
import { throwNotFound } from "../../domain/not-found.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Db } from "../../storage/db/open.ts";
import { files } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";
import type { TokenFiles } from "./client-token-rules.ts";
import type { FileRow as Row } from "./row.ts";

type NewRow = Omit<typeof files.$inferInsert, keyof Scope | "created_at_ms"> & { created_at_ms?: number };

export type FileRows = ReturnType<typeof createFileRows>;

/** Unexpired files, filtered by what the viewer may see. */
export function createFileRows({ db, tokens, now }: { db: Db; tokens: TokenFiles; now: () => number }) {
  const rows = createScopedTable(db, files);

  function known(scope: Scope, id: string): Row | null {
    const row = rows.get(scope, id);
    return row && (row.expires_at_ms ?? Number.POSITIVE_INFINITY) > now() ? row : null;
  }

  /** Returns null if the file does not exist or the viewer may not see it. */
  function seen(viewer: Viewer, id: string): Row | null {
    const row = known(viewer, id);
    return row && maySee(viewer, row) && tokens.maySee(viewer, row) ? row : null;
  }

  return {
    ...rows,
    known,
    seen,
    find: (viewer: Viewer, id: string): Row => seen(viewer, id) ?? throwNotFound(),
    insert(scope: Scope, row: NewRow): Row {
      const agent_id = row.agent_id ?? sql`(SELECT agent_id FROM runs WHERE id = ${row.run_id})`;
      return rows.insert(scope, { created_at_ms: now(), ...row, agent_id });
    },
  };
}

/** An agent-bound key sees uploads, but no files made by runs of other agents. */
const maySee = ({ agent_ids }: Viewer, { agent_id }: Row): boolean =>
  !agent_ids || agent_id === null || agent_ids.includes(agent_id);
