type Cost = (run: number) => number;

/** Tokens for a run of characters of one kind, measured on texts of many languages and on noise. */
const costs = {
  /** A single space belongs to the token of the next word. */
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
 * Estimates the tokens of a text, rather too many than too few, without loading the token table. Used for text that is
 * chunked outside of a child process.
 */
export function estimateTokens(text: string): number {
  let [tokens, run] = [0, 0];
  let kind: Kind = "space";
  for (let at = 0; at < text.length; at++) {
    const next = kindOf(text.charCodeAt(at));
    // A capital and the small letters that follow it are one word.
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
