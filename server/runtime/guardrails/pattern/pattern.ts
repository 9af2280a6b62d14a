import type { Scanner, Span } from "../span.ts";
import { compilePattern, sizeOf } from "./program.ts";
import { PatternScanner } from "./scanner.ts";
import { createSearch } from "./search.ts";
import { PatternFault, parsePattern } from "./syntax.ts";

// Our own engine: no library finds all matches of a streamed text in bounded time.

/** A pattern compiled for whole and streamed texts. */
export interface Pattern {
  search(text: string): Span[];
  scan(): Scanner;
}

export const patternLimits = { length: 1000, steps: 1000 } as const;

/** Throws a {@link PatternFault} if the pattern is invalid. */
export function compile(source: string, steps: number = patternLimits.steps): Pattern {
  const program = compilePattern(parsePattern(source), steps);
  return { search: createSearch(program), scan: () => new PatternScanner(program) };
}

/** Returns the fault of a client's pattern, or null. */
export function patternFault(source: string): string | null {
  if (source.length > patternLimits.length) return `it is longer than ${patternLimits.length} characters`;
  return unlessFault(() => void compilePattern(parsePattern(source), patternLimits.steps)) ?? null;
}

/** Returns a pattern's size with counted repetitions expanded; null if it is invalid. */
export function patternSteps(source: string): number | null {
  if (source.length > patternLimits.length) return null;
  let steps: number | null = null;
  unlessFault(() => {
    steps = sizeOf(parsePattern(source));
  });
  return steps;
}

function unlessFault(run: () => void): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof PatternFault) return error.message;
    throw error;
  }
}
