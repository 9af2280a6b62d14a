/** What the address of a comparison holds. */
export interface DiffSearch {
  /** Equal steps are left out. */
  hide?: "equal";
}

/** What it says; what is none of it is left out. */
export const readDiffSearch = (search: Record<string, unknown>): DiffSearch =>
  search.hide === "equal" ? { hide: "equal" } : {};
