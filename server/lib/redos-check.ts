import { type Alternatives, type CharSet, disjoint, empty, parsePattern, type Term, union } from "./regex-literals.ts";

const maxLength = 256;
const maxSteps = 2e8;

/** Maximum length of a string that is matched against an untrusted regular expression. */
export const maxMatched = 10_000;

/** True if an untrusted regular expression is fast on every string up to {@link maxMatched}. */
export const isSafePattern = (pattern: string): boolean => {
  const steps = matchSteps(pattern);
  return steps !== null && steps(maxMatched) <= maxSteps;
};

/**
 * Returns the maximum number of steps of a backtracking engine by string length; null for a pattern that is not
 * supported or has no small bound. A repetition adds no choice if its continuation begins differently (`a*b`,
 * `(-[a-z]+)*$`); every other one multiplies the ways to match.
 */
export function matchSteps(pattern: string): ((length: number) => number) | null {
  const parsed = pattern.length <= maxLength ? parsePattern(pattern) : null;
  if (!parsed) return null;
  const ways = waysOf(parsed, empty);
  if (!ways) return null;
  const degree = ways.degree + (isAnchored(parsed) ? 0 : 1); // Without ^ a match may begin at every position.
  if (degree > 1) return null;
  const width = widthOf(parsed);
  return (length) => ways.count * length ** degree * (pattern.length + Math.min(length, width));
}

/** Number of ways to match the rest: `count` × length ^ `degree`. Null if there is no bound. */
type Ways = { count: number; degree: number } | null;

function waysOf(alternatives: Alternatives, follow: CharSet): Ways {
  const each = alternatives.map((terms) => sequenceWays(terms, follow));
  const starts = alternatives.map((terms) => firstOf(terms, follow));
  // If no two alternatives begin with the same character, only one is ever entered. `($|$)` matches empty twice.
  const exclusive =
    alternatives.filter(isNullable).length < 2 &&
    starts.every((set, i) => starts.slice(i + 1).every((other) => disjoint(set, other)));
  let [count, degree] = [0, 0];
  for (const ways of each) {
    if (!ways) return null;
    count = exclusive ? Math.max(count, ways.count) : count + ways.count;
    degree = Math.max(degree, ways.degree);
  }
  return { count, degree };
}

function sequenceWays(terms: readonly Term[], follow: CharSet): Ways {
  let [count, degree] = [1, 0];
  for (const [i, term] of terms.entries()) {
    const ways = termWays(term, firstOf(terms.slice(i + 1), follow));
    if (!ways) return null;
    count *= ways.count;
    degree += ways.degree;
  }
  return { count, degree };
}

function termWays(term: Term, follow: CharSet): Ways {
  if (term.kind === "edge") return { count: 1, degree: 0 };
  const first = term.kind === "group" ? firstOfAny(term.alternatives, empty) : term.set;
  // `($)?` may be entered or skipped with the same result.
  const isTwofold = term.kind === "group" && term.alternatives.some(isNullable);
  const choices = choicesOf(term, !isTwofold && disjoint(first, follow));
  if (term.kind === "char" || term.max === 0) return choices;
  const body = waysOf(term.alternatives, term.max > 1 ? union(first, follow) : follow);
  if (!body) return null;
  if (term.max <= 1) return { count: body.count * choices.count, degree: body.degree };
  // A repeated choice doubles the ways each time, and a repetition of an empty match never ends.
  if (body.count > 1 || body.degree > 0 || isTwofold) return null;
  return choices;
}

const choicesOf = (
  { min, max }: { min: number; max: number },
  isDecided: boolean,
): { count: number; degree: number } =>
  isDecided || min === max
    ? { count: 1, degree: 0 }
    : max === Number.POSITIVE_INFINITY
      ? { count: 1, degree: 1 }
      : { count: max - min + 1, degree: 0 };

const isNullable = (terms: readonly Term[]): boolean =>
  terms.every(
    (term) => term.kind === "edge" || term.min === 0 || (term.kind === "group" && term.alternatives.some(isNullable)),
  );

/** Characters with which these terms, or what follows them, can begin. */
function firstOf(terms: readonly Term[], follow: CharSet): CharSet {
  let set: CharSet = empty;
  for (const term of terms) {
    if (term.kind === "edge") {
      if (term.isEnd) return set;
      continue;
    }
    set = union(set, term.kind === "char" ? term.set : firstOfAny(term.alternatives, empty));
    if (term.min > 0 && !(term.kind === "group" && term.alternatives.some(isNullable))) return set;
  }
  return union(set, follow);
}

const firstOfAny = (alternatives: Alternatives, follow: CharSet): CharSet =>
  alternatives.map((terms) => firstOf(terms, follow)).reduce(union, empty);

const isAnchored = (alternatives: Alternatives): boolean =>
  alternatives.every(([term]) => term?.kind === "edge" && term.isStart);

function widthOf(alternatives: Alternatives): number {
  const widths = alternatives.map((terms) => terms.reduce((sum, term) => sum + termWidth(term), 0));
  return Math.max(0, ...widths);
}

function termWidth(term: Term): number {
  if (term.kind === "edge" || term.max === 0) return 0;
  const one = term.kind === "char" ? 1 : widthOf(term.alternatives);
  return one === 0 ? 0 : one * term.max;
}
