import type { Database } from "bun:sqlite";
import type { Viewer } from "../http/auth.ts";
import type { Narrow } from "../http/page.ts";
import { createBeginnings } from "./beginnings.ts";
import { createPlaceOf } from "./documents.ts";
import { within } from "./place.ts";
import { expressionOf } from "./query.ts";

// Candidates that are looked at together; for a list that is sorted by something else, all that are.
const perWindow = 200;
const mostSorted = 10_000;
export interface Asked {
  q: string | null;
  facets: readonly string[];
  /** Whether runs whose words are not in the index yet may be meant, too. */
  unread: boolean;
  /** Whether the list is in another order than that of its ids. */
  sorted: boolean;
  /** How many candidates are looked at together, where that are more than a page needs. */
  window?: number;
}

/** Runs of the index that have these words and facets, as a list narrows its rows by them. */
export function createNarrow(sqlite: Database) {
  const placeOf = createPlaceOf(sqlite);
  const beginnings = createBeginnings(sqlite);
  return (viewer: Viewer, { q, facets, unread, sorted, window = perWindow }: Asked): Narrow => {
    const { project_id, environment } = viewer;
    const words = q === null ? null : expressionOf(q, beginnings);
    const nothing = q !== null && words === null;
    const expression = [within(viewer, ["run"], facets), ...(words ? [words] : [])].join(" AND ");
    const most = sorted ? mostSorted : window;

    function candidates(after: string | null, descending: boolean): string[] {
      if (nothing) return [];
      const bound = after === null || sorted ? "" : `AND w.rowid ${descending ? "<" : ">"} ${placeOf(viewer, after)}`;
      return sqlite
        .query<{ id: string }, [string, string, string, number]>(
          `SELECT d.id FROM search_words w CROSS JOIN search_documents d ON d.number = w.rowid
           WHERE search_words MATCH ? ${bound} AND d.project_id = ? AND d.environment = ?
           ORDER BY w.rowid ${descending ? "DESC" : "ASC"} LIMIT ?`,
        )
        .all(expression, project_id, environment, most)
        .map(({ id }) => id);
    }

    return (after, descending) => {
      const ids = candidates(after, descending);
      const until = sorted || ids.length < most ? null : ids.at(-1)!;
      const end = until === null ? [] : [until];
      const range = until === null ? "" : `AND id ${descending ? ">=" : "<="} ?`;
      const of = `project_id = ? AND environment = ? ${range}`;
      const alive = "status IN ('queued', 'in_progress', 'requires_action')";
      const others = `SELECT id FROM runs INDEXED BY runs_unprojected WHERE ended_at_ms IS NOT NULL AND projected < 3 AND projected & 1 = 0 AND ${of}
        UNION ALL SELECT id FROM runs WHERE ${alive} AND ${of}`;
      const place = [project_id, environment, ...end];
      return {
        sql: `id IN (SELECT value FROM json_each(?) ${unread ? `UNION ALL ${others}` : ""}) ${range}`,
        values: [JSON.stringify(ids), ...(unread ? [...place, ...place] : []), ...end],
        until,
      };
    };
  };
}
