import type { Files } from "./tidy.ts";

/** Exports that were replaced by terms of the field. No export has one of these names again. */
const retiredNames = [
  "createReach",
  "createPatience",
  "createTickets",
  "createScreen",
  "createWaysOut",
  "createWhileLeading",
  "beginAnew",
  "giveWay",
  "letComputeLast",
  "readOut",
  "firstOf",
  "createOneByOne",
  "atMostEvery",
  "settledWithin",
  "untilAborted",
  "inSlices",
  "mayGoOn",
  "Needles",
  "weightOf",
  "whyUnread",
  "startPatiently",
  "createNamedSignals",
  "createKeeper",
  "prepareLate",
  "createLogMover",
  "unlessDamaged",
  "createBriefs",
  "createFolds",
  "createWatches",
  "createParking",
  "inShares",
  "createEnds",
  "createEndings",
  "createAnswers",
  "createWithin",
  "createEdge",
  "atOnce",
  "createLooks",
  "createLanes",
  "createFollowers",
  "tryOnce",
  "createWindDown",
  "createPerformer",
  "createLiveRuns",
  "doorNames",
  "closedDoors",
  "leaveOut",
  "settleCall",
  "preparationsOf",
  "askedCalls",
  "createFire",
  "createFirings",
  "createPlans",
  "createPins",
  "wholeOf",
  "perFrame",
  "plainLine",
  "ActDialog",
  "ChoiceBar",
  "TwoViews",
  "LeaveQuestion",
];
const retired = new RegExp(
  `^export (?:async )?(?:function|const|class|interface|type) (?:${retiredNames.join("|")})\\b`,
  "gm",
);

/** `...{ a, b }` and `...[a, b]`: the fields can stand there themselves. Rest parameters are another thing. */
const literalSpread = /\.\.\.(?:\{\s*(?:\w|\.\.\.)|\[[^[\]]*\](?=\s*[,\]]))/g;
const commentWithWhat = /(?:\/\*\*\s*(?:\n\s*\*\s*)?|(?<=^|\s)(?<!\/\/[^\n]*\n\s*)\/\/ )What\b/g;
const whoever = /\bwhoever\b/gi;
const somebody = /\b(?:some|no)body\b/gi;
/** A non-null assertion, as in `a!.b`, `a[0]!` or `f()!`. */
const nonNull = /[\w)\]]!(?=[.,;)\]}\s[(:?])(?!=)/g;

interface Rule {
  pattern: RegExp;
  advice: string;
}

const rules: Rule[] = [
  { pattern: literalSpread, advice: "spreads a literal: write its fields" },
  { pattern: commentWithWhat, advice: 'begins a comment with "What": begin with its subject' },
  { pattern: whoever, advice: 'says "whoever": name the actor' },
  { pattern: retired, advice: "declares a name that was replaced" },
];

/** The rules and their tests contain what they refuse. */
const isExempt = (path: string): boolean => /^scripts\/(?:language|tidy\.test)/.test(path);

/** Lines that break a rule of the language, as sentences. */
export function languageFaults(files: Files): string[] {
  const checked = Object.entries(files).filter(([path]) => !isExempt(path));
  return checked.flatMap(([path, source]) =>
    rules.flatMap(({ pattern, advice }) => linesOf(source, pattern).map((line) => `${path}:${line} ${advice}`)),
  );
}

/** Line numbers of all matches, from 1. */
const linesOf = (source: string, pattern: RegExp): number[] =>
  [...source.matchAll(pattern)].map(({ index, 0: match }) => source.slice(0, index + match.length).split("\n").length);

interface Figures {
  lines: number;
  comments: number;
  literal_spreads: number;
  comments_with_what: number;
  whoever: number;
  somebody: number;
  non_null: number;
}

/** Counts over these sources of all that makes a reader stop. */
export function measureLanguage(files: Files): Figures {
  const sources = Object.values(files);
  const sum = (pattern: RegExp) => sources.reduce((total, source) => total + (source.match(pattern)?.length ?? 0), 0);
  return {
    lines: sources.reduce((total, source) => total + source.split("\n").length - 1, 0),
    comments: sum(/\/\*\*|(?:^|\s)\/\/ /g),
    literal_spreads: sum(literalSpread),
    comments_with_what: sum(commentWithWhat),
    whoever: sum(whoever),
    somebody: sum(somebody),
    non_null: sum(nonNull),
  };
}
