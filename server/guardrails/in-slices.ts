import type { GuardrailPoint } from "../core/agent-snapshot.ts";
import { isNumber } from "../lib/exact-numbers.ts";
import { inSlices } from "../lib/slices.ts";
import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn } from "./compile.ts";
import type { Detector } from "./detectors.ts";
import { conclude, cutValue, inspectText, isRedacting, rewrite, type Screened, textOf, trigger } from "./inspect.ts";
import { createRedaction, type Source } from "./redaction.ts";
import type { Span } from "./span.ts";

// A pattern as large as may be takes some 5 ms for so much.
const pieceMax = 256;

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
  await detector.prepare?.(rest);
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

/**
 * What guardrails say of a value, and what they leave of it, as {@link screenText} and its like do: in slices, also where it has
 * a hundred thousand texts, or one in which a hundred thousand places are found. `masks` says which of them take out what
 * they find; `tool` is the one that a call is of.
 */
export async function screenInSlices<T>(
  list: CompiledGuardrails,
  on: GuardrailPoint,
  value: T,
  { masks = isRedacting, tool }: { masks?: (one: CompiledGuardrail) => boolean; tool?: string } = {},
): Promise<Screened<T>> {
  const here = guardrailsOn(list, on);
  const rest = inSlices();
  const texts = here.some(looksAtTexts) ? countTexts(value) : new Map<string, number>();
  const sources = new Map<string, Source[]>();

  async function matchesOf(one: CompiledGuardrail): Promise<number> {
    const { kind, guardrail, places } = one;
    if (kind.allows) return Number(!kind.allows(guardrail.config, tool ?? ""));
    // What is said is read as what it says; what a tool gives, or is given, has its shape already.
    if (kind.fits && (on === "tool_output" || on === "tool_call")) return Number(!kind.fits(guardrail.config, value));
    if (!looksAtTexts(one)) return kind.fits || places.length > 0 ? inspectText(one, textOf(value)) : 0;
    let matches = 0;
    for (const { detector, mark } of places)
      for (const [text, times] of texts) {
        const spans = await search(detector, text, rest);
        if (spans.length === 0) continue;
        matches += spans.length * times;
        if (masks(one)) sources.set(text, [...(sources.get(text) ?? []), { mark, spans }]);
      }
    return matches;
  }

  const triggered = [];
  for (const one of here) triggered.push(...trigger(one, on, await matchesOf(one)));
  const left = new Map<string, string>();
  for (const [text, found] of sources) left.set(text, await redactInSlices(text, found, rest));
  let without: unknown = left.size > 0 ? rewrite(value, (text) => left.get(text) ?? text) : value;
  for (const one of here) if (one.kind.about === "length" && masks(one)) without = cutValue(one, without);
  return conclude(without as T, triggered);
}

/** Whether it looks for something in each text by itself. */
const looksAtTexts = ({ kind, places }: CompiledGuardrail): boolean => places.length > 0 && kind.about !== "length";

async function redactInSlices(text: string, sources: readonly Source[], rest: () => Promise<void>): Promise<string> {
  const redaction = createRedaction(sources);
  const written: string[] = [];
  for (let at = 0; at < text.length; at += pieceMax) {
    written.push(redaction.write(text.slice(at, at + pieceMax), at));
    await rest();
  }
  return written.join("");
}

/** Not between the halves of a pair of surrogates. */
const wholeEnd = (text: string, end: number): number =>
  end < text.length && /[\ud800-\udbff]/.test(text[end - 1]!) ? end + 1 : Math.min(end, text.length);

/** All texts of a JSON value that guardrails look at. */
export const textsOf = (value: unknown): string[] => [...countTexts(value).keys()];

/** All texts of a value, and how often each occurs. */
function countTexts(value: unknown): Map<string, number> {
  const texts = new Map<string, number>();
  const add = (text: string) => texts.set(text, (texts.get(text) ?? 0) + 1);
  const visit = (each: unknown): void => {
    if (typeof each === "string") add(each);
    else if (isNumber(each)) add(JSON.stringify(each));
    else if (Array.isArray(each)) each.forEach(visit);
    else if (typeof each === "object" && each !== null)
      for (const [key, inner] of Object.entries(each)) {
        add(key);
        visit(inner);
      }
  };
  visit(value);
  return texts;
}
