import type { SQLQueryBindings } from "bun:sqlite";
import type { SearchType } from "../../domain/api-types/enums.ts";
import type { SearchResult } from "../../domain/api-types/search.ts";
import type { RunStatus } from "../../domain/run-state.ts";
import { timestamp } from "../../domain/time.ts";
import { agentConditions, type Viewer } from "../../http/auth.ts";
import { invalidCursor, type List, toList } from "../../http/page.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import type { Db } from "../../storage/db/open.ts";
import { isShown } from "../../storage/journal/journal.ts";
import { createPlaceOf, numberOf } from "./documents.ts";
import { excerpt } from "./excerpt.ts";
import { visiblePlaces } from "./facets.ts";
import { createMatches, everywhere } from "./matches.ts";
import { createPrefixTerms } from "./prefix-terms.ts";
import { idOf, toDisplayText, type Words, wordsOf } from "./query.ts";

interface Search {
  q: string;
  types: readonly SearchType[] | null;
  limit: number;
  starting_after: string | null;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

interface Found {
  number: number;
  type: SearchType;
  id: string;
  title: string;
  /** 1 if found by its words, 0 if by its id. */
  by_words: 0 | 1;
  created_at_ms: number;
  agent_id: string | null;
  status: RunStatus | null;
}

const anyId = /^[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}$/;
const columns = `d.number, d.type, d.id, d.created_at_ms, runs.agent_id, runs.status`;
// Expired files are hidden until they are deleted.
const isThere = `NOT EXISTS (SELECT 1 FROM files WHERE d.type = 'file' AND files.project_id = d.project_id
  AND files.environment = d.environment AND files.id = d.id AND files.expires_at_ms <= ?)`;
const withRuns = `LEFT JOIN runs ON d.type = 'run' AND runs.id = d.id AND runs.${isShown}`;

/** Searches a project and environment, newest first. */
export function createSearch({ db: { sqlite }, now }: { db: Db; now: () => number }) {
  const numberIn = createPlaceOf(sqlite);
  const prefixTerms = createPrefixTerms(sqlite);
  const matches = createMatches(sqlite);
  const selectText = sqlite.query<{ text: string }, [number]>("SELECT text FROM search_words WHERE rowid = ?");
  const all = (sql: string, ...values: SQLQueryBindings[]): Found[] =>
    sqlite.query<Found, SQLQueryBindings[]>(sql).all(...values);

  function byWords(viewer: Viewer, words: Words, { types, signal }: Search, before: number, most: number) {
    const { project_id, environment } = viewer;
    const expression = `${visiblePlaces(viewer, types)} AND ${words.expression}`;
    return matches<Found>({
      scope: viewer,
      words,
      within: { ...everywhere, high: before },
      descending: true,
      most,
      signal,
      select: ({ low, high }, limit) =>
        all(
          `SELECT ${columns}, w.title, 1 AS by_words
           FROM search_words w CROSS JOIN search_documents d ON d.number = w.rowid ${withRuns}
           WHERE search_words MATCH ? AND w.rowid > ? AND w.rowid < ? AND d.project_id = ? AND d.environment = ? AND ${isThere}
           ORDER BY w.rowid DESC LIMIT ?`,
          expression,
          low,
          high,
          project_id,
          environment,
          now(),
          limit,
        ),
    });
  }

  /** Matches an id prefix. */
  function byId(viewer: Viewer, id: string, { types }: Search, before: number, limit: number): Found[] {
    const { project_id, environment } = viewer;
    return all(
      `SELECT ${columns}, w.title, 0 AS by_words
       FROM search_documents d CROSS JOIN search_words w ON w.rowid = d.number ${withRuns}
       WHERE d.project_id = ? AND d.environment = ? AND d.id >= ? AND d.id < ? AND search_words MATCH ?
         AND d.number < ? AND ${isThere} ORDER BY d.id DESC LIMIT ?`,
      project_id,
      environment,
      id,
      `${id}~`,
      visiblePlaces(viewer, types),
      before,
      now(),
      limit,
    );
  }

  /** Position of a page's last document, also if it is gone. */
  function placeOf(viewer: Viewer, id: string): number {
    if (!anyId.test(id)) throw invalidCursor();
    return numberIn(viewer, id);
  }

  /** Runs that are not indexed yet, most of them still running. */
  function unread(viewer: Viewer, id: string, { types }: Search, before: number, limit: number): Found[] {
    if (types && !types.includes("run")) return [];
    const bound = agentConditions(viewer, "agent_id");
    return all(
      `SELECT 'run' AS type, id, created_at_ms, agent_id, status, '' AS title, 0 AS by_words FROM runs
       WHERE project_id = ? AND environment = ? AND id >= ? AND id < ? AND projected & 1 = 0 AND ${isShown}
       ${bound.map(({ sql }) => `AND ${sql}`).join(" ")} ORDER BY id DESC LIMIT ?`,
      viewer.project_id,
      viewer.environment,
      id,
      `${id}~`,
      ...bound.flatMap(({ values }) => values),
      limit,
    )
      .map((row) => ({ ...row, number: numberOf(row.id) }))
      .filter(({ number }) => number < before);
  }

  return async (viewer: Viewer, search: Search): Promise<List<SearchResult>> => {
    const { q, limit, starting_after } = search;
    const id = idOf(q);
    // A full id puts its document first; all others follow in their order.
    const isFirst = starting_after === null || starting_after === id;
    const before = isFirst ? Number.MAX_SAFE_INTEGER : placeOf(viewer, starting_after);
    const most = limit + 2;
    const idMatches = id === null ? [] : [byId, unread].flatMap((by) => by(viewer, id, search, before, most));
    const exact = starting_after === null ? idMatches.filter((one) => one.id === id) : [];
    const words = await wordsOf(q, prefixTerms);
    const wordMatches = words ? await byWords(viewer, words, search, before, most) : [];
    const others = [...idMatches, ...wordMatches].filter((one) => one.id !== id);
    const sorted = [...new Map(others.map((one) => [one.id, one])).values()].sort((a, b) => b.number - a.number);
    const found = [...exact, ...sorted];
    const maybeYield = createYielder();
    const data: SearchResult[] = [];
    for (const one of found.slice(0, limit)) {
      const text = words && one.by_words ? selectText.get(one.number)?.text : undefined;
      data.push(serialize(one, words && text !== undefined ? excerpt(text, words) : null));
      await maybeYield();
    }
    return toList(data, found.length > limit, (one) => one.id);
  };
}

const serialize = ({ type, id, title, created_at_ms, agent_id, status }: Found, text: string | null): SearchResult => ({
  object: "search_result",
  type,
  id,
  title: toDisplayText(title) || id,
  ...(text !== null && { snippet: toDisplayText(text) }),
  ...(agent_id !== null && { agent_id }),
  ...(status !== null && { status }),
  created_at: timestamp(created_at_ms),
});
