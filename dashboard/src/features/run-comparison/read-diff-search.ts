/** Search parameters of a comparison. */
export interface DiffSearch {
  /** Hides equal steps. */
  hide?: "equal";
}

/** Parses the search parameters; invalid values are omitted. */
export const readDiffSearch = (search: Record<string, unknown>): DiffSearch =>
  search.hide === "equal" ? { hide: "equal" } : {};
