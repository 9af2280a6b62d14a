import { type NamedSearch, omitUndefined, readNamedSearch, readText } from "../../lib/page-search.ts";

/** Parses the search parameters of the list. */
export const readSkillsSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "skl");

/** Version and file that a skill's page shows; by default the newest, and its `SKILL.md`. */
export interface SkillSearch {
  version?: number;
  file?: string;
}

/** Parses the search parameters of a skill's page. */
export const readSkillSearch = (search: Record<string, unknown>): SkillSearch => {
  const version = Number(search.version);
  return omitUndefined({
    version: Number.isSafeInteger(version) && version > 0 ? version : undefined,
    file: readText(search.file, 512),
  });
};
