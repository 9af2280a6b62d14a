import type { GuardrailPoint } from "../core/agent-snapshot.ts";
import { inSlices } from "../lib/slices.ts";
import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn } from "./compile.ts";
import type { Detector } from "./detectors.ts";
import type { Span } from "./span.ts";

// A pattern as large as may be takes some 20 ms for so much.
const pieceMax = 1024;

/**
 * The same guardrails, which have searched these texts already: a thread that serves others searches long texts in slices, and
 * lets everybody else go first in between.
 */
export async function searched(
  list: CompiledGuardrails,
  on: GuardrailPoint,
  texts: readonly string[],
): Promise<CompiledGuardrails> {
  const rest = inSlices();
  const ready: CompiledGuardrail[] = [];
  for (const one of guardrailsOn(list, on)) {
    const places: CompiledGuardrail["places"] = [];
    for (const { detector, mark } of one.places) {
      const found = new Map<string, Span[]>();
      // Lengths are counted of other texts than are searched, in no time.
      const isCounted = one.kind.about === "length";
      if (!isCounted) for (const text of texts) found.set(text, await search(detector, text, rest));
      const known = (text: string) => [...(found.get(text) ?? detector.search(text))]; // A copy: who redacts uses it up.
      places.push({ mark, detector: { search: known, scan: () => detector.scan() } });
    }
    ready.push({ ...one, places });
  }
  return ready;
}

async function search(detector: Detector, text: string, rest: () => Promise<void>): Promise<Span[]> {
  await rest();
  if (text.length <= pieceMax) return detector.search(text);
  const scanner = detector.scan();
  for (let at = 0; at < text.length; ) {
    const end = wholeEnd(text, at + pieceMax);
    scanner.push(text.slice(at, end));
    at = end;
    await rest();
  }
  scanner.end();
  return [...scanner.spans];
}

/** Not between the halves of a pair of surrogates. */
const wholeEnd = (text: string, end: number): number =>
  end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!) ? end + 1 : Math.min(end, text.length);

/** All texts of a JSON value that guardrails look at. */
export function textsOf(value: unknown): string[] {
  const texts = new Set<string>();
  const visit = (each: unknown): void => {
    if (typeof each === "string" || typeof each === "number") texts.add(String(each));
    else if (Array.isArray(each)) each.forEach(visit);
    else if (typeof each === "object" && each !== null)
      for (const [key, inner] of Object.entries(each)) {
        texts.add(key);
        visit(inner);
      }
  };
  visit(value);
  return [...texts];
}
