import { matchesQuery, queryWords } from "../lib/matches-query.ts";
import type { Project } from "../lib/workspace.ts";

/** Returns the projects whose names contain all words, prefix matches first. */
export function findProjects(projects: readonly Project[], text: string): Project[] {
  const found = projects.filter(({ name }) => matchesQuery(name, text));
  const begins = ({ name }: Project) => name.toLowerCase().startsWith(queryWords(text).join(" "));
  return [...found.filter(begins), ...found.filter((project) => !begins(project))];
}
