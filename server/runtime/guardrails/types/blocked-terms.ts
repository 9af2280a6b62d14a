import type { Detector } from "../detectors.ts";
import { foldTerm } from "../fold.ts";
import { guardrailLimits } from "../limits.ts";
import { createTermSearch } from "../terms.ts";
import { type Complain, checkList, type GuardrailKind } from "./guardrail-kind.ts";

/** Blocks words, however they are written. */
export const kind: GuardrailKind = {
  about: "text",
  required: { terms: checkTerms },
  places: ({ terms }) => [{ detector: termDetector(terms as string[]), mark: "[removed]" }],
  message: () => "It has a blocked term.",
  takes: ({ terms }) => ({ characters: lengthOf(terms) }),
};

function checkTerms(value: unknown, path: string, complain: Complain): void {
  const { terms, term_length } = guardrailLimits;
  checkList(value, path, complain, terms, (term, at) => {
    if (term.length > term_length) complain(at, `Must have at most ${term_length} characters.`);
    else if (foldTerm(term).length === 0) complain(at, "Must have a visible character.");
  });
}

const lengthOf = (terms: unknown): number =>
  Array.isArray(terms) ? terms.reduce<number>((sum, term) => sum + (typeof term === "string" ? term.length : 0), 0) : 0;

function termDetector(terms: readonly string[]): Detector {
  const { scan, prepare } = createTermSearch(terms);
  return {
    scan,
    prepare,
    search(text) {
      const scanner = scan();
      scanner.push(text);
      return [...scanner.spans];
    },
  };
}
