import type { Project } from "../lib/workspace.ts";

/** The projects that have each of the words in their name, those first whose name begins with them. */
export function findProjects(projects: readonly Project[], text: string): Project[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = projects.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  const begins = ({ name }: Project) => name.toLowerCase().startsWith(words.join(" "));
  return [...found.filter(begins), ...found.filter((project) => !begins(project))];
}
