type Cost = (run: number) => number;

/** What so many characters of a kind in a row cost, measured on texts of many languages and on noise. */
const costs = {
  /** A single one goes with the word behind it. */
  space: (run) => (run > 1 ? 1 + run / 16 : 0),
  newline: (run) => 1 + run / 16,
  small: (run) => (run > 12 ? run / 2 : Math.max(1, run / 5)),
  capital: (run) => Math.max(1, run / 2),
  digit: (run) => Math.ceil(run / 3),
  sign: (run) => run,
  narrow: (run) => run / 2,
  rare: (run) => 3 * run,
  wide: (run) => run,
} satisfies Record<string, Cost>;

type Kind = keyof typeof costs;

/**
 * About how many tokens a text has, rather too many than too few, without the table that counting them takes. For texts
 * that no child cuts.
 */
export function estimateTokens(text: string): number {
  let [tokens, run] = [0, 0];
  let kind: Kind = "space";
  for (let at = 0; at < text.length; at++) {
    const next = kindOf(text.charCodeAt(at));
    // A capital begins a word.
    if (next !== kind && !(next === "small" && kind === "capital" && run === 1)) {
      tokens += costs[kind](run);
      run = 0;
    }
    run++;
    kind = next;
  }
  return Math.ceil(tokens + costs[kind](run));
}

function kindOf(unit: number): Kind {
  if (unit === 32) return "space";
  if (unit < 32) return "newline";
  if (unit > 96 && unit < 123) return "small";
  if (unit > 64 && unit < 91) return "capital";
  if (unit > 47 && unit < 58) return "digit";
  if (unit < 128) return "sign";
  if (unit < 0x10a0) return "narrow";
  return unit < 0x1e00 ? "rare" : "wide";
}
