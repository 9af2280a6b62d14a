import type { Scope } from "../core/scope.ts";
import type { Viewer } from "../http/auth.ts";

// Words of `place`: each a letter and what it says, without anything that FTS5 would part it by.

const bare = (id: string): string => id.replaceAll(/[^0-9a-z]/gi, "").toLowerCase();
const scopeWord = ({ project_id, environment }: Scope): string => `p${bare(project_id)}${environment}`;
const typeWord = (scope: Scope, type: string): string => `${scopeWord(scope)}${type}`;
const agentWord = (id: string): string => `a${bare(id)}`;
/** What any key sees, whichever agents it may use. */
const free = "afree";

/** By what lists of runs are narrowed. Two values may have the same word, so that what is found is looked at again. */
type Facet = "model" | "error_code" | "tool" | "api_key_id" | "metadata" | "cost" | "duration" | "first_token";
export const facetWord = (facet: Facet, value: string): string =>
  `f${facet.replaceAll("_", "")}${Bun.hash(value).toString(36)}`;

/** Amounts stand in ranges, each twice as wide as the one before. */
export const rangeOf = (amount: number): string => String(amount < 1 ? 0 : Math.floor(Math.log2(amount)) + 1);
const ranges = Array.from({ length: 54 }, (_, range) => range);
/** The words of all ranges that hold amounts between these. */
export const rangeWords = (facet: Facet, min: number, max: number): string =>
  anyFacet(
    facet,
    ranges.filter((range) => range >= Number(rangeOf(min)) && range <= Number(rangeOf(max))),
  );

/** Any of these values; where there is none, a word that no document has. */
export const anyFacet = (facet: Facet, values: readonly (string | number)[]): string =>
  anyOf((values.length > 0 ? values : ["none"]).map((value) => facetWord(facet, String(value))));

/** Where a document stands. `agent_id`: keys that are bound to agents see it where they may use this one; null: they all do. */
export function placeOf(
  scope: Scope,
  type: string,
  agent_id: string | null | undefined,
  facets: readonly string[] = [],
) {
  const seenBy = agent_id === undefined ? [] : [agent_id === null ? free : agentWord(agent_id)];
  return [scopeWord(scope), typeWord(scope, type), ...seenBy, ...facets].join(" ");
}

const anyOf = (words: readonly string[]): string => `(${words.join(" OR ")})`;

/** Where somebody may look, as an FTS5 expression over `place`. */
export function within(viewer: Viewer, types: readonly string[] | null, facets: readonly string[] = []): string {
  const { agent_ids } = viewer;
  const places = types ? anyOf(types.map((type) => typeWord(viewer, type))) : scopeWord(viewer);
  const seen = agent_ids ? [anyOf([free, ...agent_ids.map(agentWord)])] : [];
  return `place : (${[places, ...seen, ...facets].join(" AND ")})`;
}
