import { isId } from "../../../../server/core/ids.ts";

/** The ids of runs in a text, each once; what is none of one is told apart. */
export function runIdsIn(text: string): { ids: string[]; others: string[] } {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const isRun = (word: string) => isId("run", word);
  return { ids: [...new Set(words.filter(isRun))], others: words.filter((word) => !isRun(word)) };
}
