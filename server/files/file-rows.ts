import { sql } from "drizzle-orm";
import { missing } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { createRows } from "../db/rows.ts";
import { files } from "../db/schema.ts";
import type { Viewer } from "../http/auth.ts";
import type { TokenFiles } from "./of-token.ts";
import type { FileRow as Row } from "./row.ts";

type NewRow = Omit<typeof files.$inferInsert, keyof Scope | "created_at_ms"> & { created_at_ms?: number };

export type FileRows = ReturnType<typeof createFileRows>;

/** Files whose time is not up, for whoever may see them. */
export function createFileRows({ db, tokens, now }: { db: Db; tokens: Pick<TokenFiles, "maySee">; now: () => number }) {
  const rows = createRows(db, files);

  function known(scope: Scope, id: string): Row | null {
    const row = rows.get(scope, id);
    return row && (row.expires_at_ms ?? Number.POSITIVE_INFINITY) > now() ? row : null;
  }

  /** Null for one that is not there for whoever asks. */
  function seen(viewer: Viewer, id: string): Row | null {
    const row = known(viewer, id);
    return row && maySee(viewer, row) && tokens.maySee(viewer, row) ? row : null;
  }

  return {
    ...rows,
    known,
    seen,
    find: (viewer: Viewer, id: string): Row => seen(viewer, id) ?? missing(),
    insert(scope: Scope, row: NewRow): Row {
      const agent_id = row.agent_id ?? sql`(SELECT agent_id FROM runs WHERE id = ${row.run_id})`;
      return rows.insert(scope, { created_at_ms: now(), ...row, agent_id });
    },
  };
}

/** A key that is bound to some agents sees what was uploaded, but not what other agents' runs have made. */
const maySee = ({ agent_ids }: Viewer, { agent_id }: Row): boolean =>
  !agent_ids || agent_id === null || agent_ids.includes(agent_id);
