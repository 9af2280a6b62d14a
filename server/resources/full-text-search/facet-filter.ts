import type { Database } from "bun:sqlite";
import type { Viewer } from "../../http/auth.ts";
import type { RowFilter } from "../../http/row-filter.ts";
import { lastItem } from "../../lib/collections.ts";
import { createPlaceOf } from "./documents.ts";
import { visiblePlaces } from "./facets.ts";
import { createMatches, everywhere } from "./matches.ts";
import { createPrefixTerms } from "./prefix-terms.ts";
import { wordsOf } from "./query.ts";

// Candidates checked per query. Doubled each time none matches, because each query expands the words of a prefix anew.
const perWindow = 200;
const mostWindow = 5000;
export interface FacetQuery {
  q: string | null;
  facets: readonly string[];
  /** True to include runs that are not indexed yet. */
  unread: boolean;
  /** Candidates checked together, if more than a page needs. */
  window?: number;
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined;
}

/** Filters lists of runs by words and facets of the index. */
export function createFacetFilter(sqlite: Database) {
  const placeOf = createPlaceOf(sqlite);
  const prefixTerms = createPrefixTerms(sqlite);
  const matches = createMatches(sqlite);
  const selectIds = (direction: "ASC" | "DESC") =>
    sqlite.query<{ id: string; number: number }, [string, number, number, string, string, number]>(
      `SELECT d.id, d.number FROM search_words w CROSS JOIN search_documents d ON d.number = w.rowid
       WHERE search_words MATCH ? AND w.rowid > ? AND w.rowid < ? AND d.project_id = ? AND d.environment = ?
       ORDER BY w.rowid ${direction} LIMIT ?`,
    );
  const [idsUp, idsDown] = [selectIds("ASC"), selectIds("DESC")];
  return (viewer: Viewer, { q, facets, unread, window = perWindow, signal }: FacetQuery): RowFilter => {
    const { project_id, environment } = viewer;
    const place = visiblePlaces(viewer, ["run"], facets);
    let queryWords: ReturnType<typeof wordsOf> | null = null;
    let next = window;

    async function candidates(after: string | null, descending: boolean, most: number): Promise<string[]> {
      if (q !== null) queryWords ??= wordsOf(q, prefixTerms);
      const words = await queryWords;
      if (q !== null && words === null) return [];
      const expression = words ? `${place} AND ${words.expression}` : place;
      const behind = after === null ? {} : { [descending ? "high" : "low"]: placeOf(viewer, after) };
      const found = await matches({
        scope: viewer,
        words,
        within: { ...everywhere, ...behind },
        descending,
        most,
        signal,
        select: ({ low, high }, limit) =>
          (descending ? idsDown : idsUp).all(expression, low, high, project_id, environment, limit),
      });
      return found.map(({ id }) => id);
    }

    return async (after, descending) => {
      const most = next;
      next = Math.min(2 * most, Math.max(window, mostWindow));
      const ids = await candidates(after, descending, most);
      const until = ids.length < most ? null : lastItem(ids);
      const end = until === null ? [] : [until];
      const range = until === null ? "" : `AND id ${descending ? ">=" : "<="} ?`;
      const of = `project_id = ? AND environment = ? ${range}`;
      const alive = "status IN ('queued', 'in_progress', 'requires_action', 'paused')";
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
