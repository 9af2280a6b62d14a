import type { Comparison } from "./compare.ts";
import { explainedLosses } from "./explained-losses.ts";
import type { CorpusFile } from "./files.ts";
import { type Format, formats, goalOf } from "./formats.ts";
import type { Reading } from "./read.ts";

/** A file with what was read of it, and how that compares with a reference; null if there is none. */
export interface FileOutcome {
  file: CorpusFile;
  reading: Reading;
  comparison: Comparison | null;
}

/** Figures of a format. */
export interface Row {
  format: Format;
  files: number;
  read: number;
  /** Number of files by reason. */
  refused: Map<string, number>;
  compared: number;
  words: number;
  missing: number;
  /** Missing words whose loss is not explained. */
  unexplained: number;
  extra: number;
  crashes: number;
  late: number;
  /** Milliseconds of half of the files, and of the slowest. */
  median_ms: number;
  slowest_ms: number;
  pages: number;
  /** Milliseconds per page; null without pages. */
  page_ms: number | null;
}

const crash = "sandbox_failed";
const timeout = "document_timeout";

export function rowsOf(outcomes: readonly FileOutcome[]): Row[] {
  return formats.flatMap((format) => {
    const those = outcomes.filter(({ file }) => file.format === format);
    return those.length === 0 ? [] : [rowOf(format, those)];
  });
}

function rowOf(format: Format, outcomes: readonly FileOutcome[]): Row {
  const sum = (value: (outcome: FileOutcome) => number) => outcomes.reduce((total, each) => total + value(each), 0);
  const times = outcomes.map(({ reading }) => reading.ms).sort((a, b) => a - b);
  const paged = outcomes.filter(({ reading }) => reading.pages !== null);
  const pages = paged.reduce((total, { reading }) => total + reading.pages!, 0);
  const refused = new Map<string, number>();
  for (const { reading } of outcomes)
    if (reading.refused !== null) refused.set(reading.refused, (refused.get(reading.refused) ?? 0) + 1);
  return {
    format,
    files: outcomes.length,
    read: outcomes.filter(({ reading }) => reading.refused === null).length,
    refused,
    compared: outcomes.filter(({ comparison }) => comparison !== null).length,
    words: sum(({ comparison }) => comparison?.words ?? 0),
    missing: sum(missingOf),
    unexplained: sum(unexplainedOf),
    extra: sum(({ comparison }) => comparison?.extra ?? 0),
    crashes: refused.get(crash) ?? 0,
    late: refused.get(timeout) ?? 0,
    median_ms: times[Math.floor(times.length / 2)]!,
    slowest_ms: times.at(-1)!,
    pages,
    page_ms: pages === 0 ? null : paged.reduce((total, { reading }) => total + reading.ms, 0) / pages,
  };
}

export const missingOf = ({ comparison }: FileOutcome): number => comparison?.missing.length ?? 0;

/** Returns the number of missing words, less those that an explained loss allows. */
export const unexplainedOf = (outcome: FileOutcome): number =>
  Math.max(0, missingOf(outcome) - (allowed.get(outcome.file.name) ?? 0));

const allowed = new Map<string, number>();
for (const { files } of explainedLosses)
  for (const [name, words] of Object.entries(files)) allowed.set(name, (allowed.get(name) ?? 0) + words);

/** Returns what goes against the goals, as sentences. */
export function faultsOf(outcomes: readonly FileOutcome[], rows: readonly Row[]): string[] {
  const ends = outcomes.flatMap(({ file, reading }) => {
    if (reading.refused === crash) return [`${file.name}: its reader crashed: ${reading.message}`];
    return reading.refused === timeout ? [`${file.name}: ${reading.message}`] : [];
  });
  const losses = rows
    .filter(({ format, unexplained, words }) => unexplained > goalOf(format) * words)
    .map(({ format, unexplained, words }) => `${format}: ${unexplained} of ${words} words are missing unexplained`);
  return [...ends, ...losses];
}

/** Returns the number of missing words of each file whose explained loss allows more. */
export function recoveredIn(outcomes: readonly FileOutcome[]): Map<string, number> {
  const compared = outcomes.filter(({ comparison }) => comparison !== null);
  return new Map(
    compared
      .map((outcome) => [outcome.file.name, missingOf(outcome)] as const)
      .filter(([name, missing]) => missing < (allowed.get(name) ?? 0)),
  );
}
