import { hasWords, wordsOf } from "../lib/has-words.ts";
import type { Project } from "../lib/workspace.ts";

/** The projects that have each of the words in their name, those first whose name begins with them. */
export function findProjects(projects: readonly Project[], text: string): Project[] {
  const found = projects.filter(({ name }) => hasWords(name, text));
  const begins = ({ name }: Project) => name.toLowerCase().startsWith(wordsOf(text).join(" "));
  return [...found.filter(begins), ...found.filter((project) => !begins(project))];
}
