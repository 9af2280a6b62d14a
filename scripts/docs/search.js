/**
 * What finds pages in the index that the build writes (`search-index.ts`): every word must occur, and in a title it says
 * more than in a heading, and there more than in the text. Returns the pages, the best first.
 */
// biome-ignore lint/correctness/noUnusedVariables: `site.js` stands below it in one file.
function finderOf({ pages, words }) {
  const lines = words.split("\n");
  const heads = pages.map(({ title, headings }) => [title, headings.join("\n")].map((part) => part.toLowerCase()));

  /** How often each page has a word in its text, also within other words. */
  function countsOf(word) {
    const counts = new Map();
    for (const line of lines) {
      if (!line.includes(word)) continue; // Nearly all of them, at every letter that somebody types.
      const [known, places] = line.split(" ");
      const times = known.split(word).length - 1;
      let page = -1;
      if (times > 0)
        for (const place of places.split(".")) {
          const [step, count = 1] = place.split("x");
          page += Number(step);
          counts.set(page, (counts.get(page) ?? 0) + times * Number(count));
        }
    }
    return counts;
  }

  return (asked) => {
    const counts = asked.map(countsOf);
    const scoreOf = ([inTitle, inHeadings], number) => {
      let score = 0;
      for (const [at, word] of asked.entries()) {
        const inText = Math.min(counts[at].get(number) ?? 0, 5) / 2;
        const its = (inTitle.includes(word) ? 20 : 0) + (inHeadings.includes(word) ? 5 : 0) + inText;
        if (its === 0) return 0;
        score += its;
      }
      return score + (inTitle === asked.join(" ") ? 50 : 0);
    };
    return pages
      .map((page, number) => ({ page, score: scoreOf(heads[number], number) }))
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score)
      .map(({ page }) => page);
  };
}
