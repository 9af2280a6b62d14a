import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";

// Words of `place`: a letter and a value, without characters at which FTS5 would split it.

const bare = (id: string): string => id.replaceAll(/[^0-9a-z]/gi, "").toLowerCase();
const scopeWord = ({ project_id, environment }: Scope): string => `p${bare(project_id)}${environment}`;
const typeWord = (scope: Scope, type: string): string => `${scopeWord(scope)}${type}`;
const agentWord = (id: string): string => `a${bare(id)}`;
/** Word of documents that every key sees, whichever agents it may use. */
const free = "afree";

/** Filters of run lists. Two values may share a word, so matches are verified. */
type Facet = "model" | "error_code" | "tool" | "api_key_id" | "metadata" | "cost" | "duration" | "first_token";
export const facetWord = (facet: Facet, value: string): string =>
  `f${facet.replaceAll("_", "")}${Bun.hash(value).toString(36)}`;

/** Amounts are indexed in ranges, each twice as wide as the previous. */
export const rangeOf = (amount: number): string => String(amount < 1 ? 0 : Math.floor(Math.log2(amount)) + 1);
const ranges = Array.from({ length: 54 }, (_, range) => range);
/** Words of all ranges that overlap [min, max]. */
export const rangeWords = (facet: Facet, min: number, max: number): string =>
  anyFacet(
    facet,
    ranges.filter((range) => range >= Number(rangeOf(min)) && range <= Number(rangeOf(max))),
  );

/** Matches any of these values; without values, a word that no document has. */
export const anyFacet = (facet: Facet, values: readonly (string | number)[]): string =>
  anyOf((values.length > 0 ? values : ["none"]).map((value) => facetWord(facet, String(value))));

/** Place of a document. `agent_id`: agent-bound keys see it if they may use this agent; null: every key sees it. */
export function placeOf(
  scope: Scope,
  type: string,
  agent_id: string | null | undefined,
  facets: readonly string[] = [],
) {
  const agentWords = agent_id === undefined ? [] : [agent_id === null ? free : agentWord(agent_id)];
  return [scopeWord(scope), typeWord(scope, type), ...agentWords, ...facets].join(" ");
}

const anyOf = (words: readonly string[]): string => `(${words.join(" OR ")})`;

/** Searchable places of a viewer, as an FTS5 expression over `place`. */
export function visiblePlaces(viewer: Viewer, types: readonly string[] | null, facets: readonly string[] = []): string {
  const { agent_ids } = viewer;
  const places = types ? anyOf(types.map((type) => typeWord(viewer, type))) : scopeWord(viewer);
  const agentTerms = agent_ids ? [anyOf([free, ...agent_ids.map(agentWord)])] : [];
  return `place : (${[places, ...agentTerms, ...facets].join(" AND ")})`;
}
