/** The ids of runs in a text, each once; what is none of one is told apart. */
export function runIdsIn(text: string): { ids: string[]; others: string[] } {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const isId = (word: string) => /^run_[0-9a-hjkmnp-tv-z]{26}$/.test(word);
  return { ids: [...new Set(words.filter(isId))], others: words.filter((word) => !isId(word)) };
}
