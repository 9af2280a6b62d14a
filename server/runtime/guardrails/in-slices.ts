import type { GuardrailPoint } from "../../domain/agent-snapshot.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { isNumber } from "../../lib/exact-numbers.ts";
import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn } from "./compile.ts";
import type { Detector } from "./detectors.ts";
import {
  conclude,
  cutValue,
  inspectText,
  isRedacting,
  rewrite,
  type ScreenResult,
  textOf,
  trigger,
} from "./inspect.ts";
import { createRedaction, type Source } from "./redaction.ts";
import type { Span } from "./span.ts";

// The largest allowed pattern takes about 5 ms for this many characters.
const pieceMax = 256;

/** Returns the guardrails with these texts already searched, in slices, so that long texts do not block the thread. */
export async function searchInSlices(
  list: CompiledGuardrails,
  on: GuardrailPoint,
  texts: readonly string[],
): Promise<CompiledGuardrails> {
  const rest = createYielder();
  const ready: CompiledGuardrail[] = [];
  for (const one of guardrailsOn(list, on)) {
    const places: CompiledGuardrail["places"] = [];
    for (const { detector, mark } of one.places) {
      const found = new Map<string, Span[]>();
      // Length guardrails need no search: counting is fast, and it applies to other texts.
      const isCounted = one.kind.about === "length";
      if (!isCounted) for (const text of texts) found.set(text, await search(detector, text, rest));
      const known = (text: string) => [...(found.get(text) ?? detector.search(text))]; // A copy, because redaction consumes the array.
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
 * Screens a value like {@link screenText} and the others, but in slices, for values with a hundred thousand texts or
 * findings. `masks` selects the guardrails that redact; `tool` is the name of the called tool.
 */
export async function screenInSlices<T>(
  list: CompiledGuardrails,
  on: GuardrailPoint,
  value: T,
  { masks = isRedacting, tool }: { masks?: (one: CompiledGuardrail) => boolean; tool?: string } = {},
): Promise<ScreenResult<T>> {
  const activeGuardrails = guardrailsOn(list, on);
  const rest = createYielder();
  const texts = activeGuardrails.some(looksAtTexts) ? countTexts(value) : new Map<string, number>();
  const sources = new Map<string, Source[]>();

  async function matchesOf(one: CompiledGuardrail): Promise<number> {
    const { kind, guardrail, places } = one;
    if (kind.allows) return Number(!kind.allows(guardrail.config, tool ?? ""));
    // Structured values are validated as they are; texts are parsed as JSON first.
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
  for (const one of activeGuardrails) triggered.push(...trigger(one, on, await matchesOf(one)));
  const left = new Map<string, string>();
  for (const [text, found] of sources) left.set(text, await redactInSlices(text, found, rest));
  let without: unknown = left.size > 0 ? rewrite(value, (text) => left.get(text) ?? text) : value;
  for (const one of activeGuardrails) if (one.kind.about === "length" && masks(one)) without = cutValue(one, without);
  return conclude(without as T, triggered);
}

/** True if the guardrail searches each text separately. */
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

/** Returns an end that does not split a surrogate pair. */
const wholeEnd = (text: string, end: number): number =>
  end < text.length && /[\ud800-\udbff]/.test(text.charAt(end - 1)) ? end + 1 : Math.min(end, text.length);

/** Returns all texts of a JSON value that guardrails check. */
export const textsOf = (value: unknown): string[] => [...countTexts(value).keys()];

/** Counts the occurrences of each text in a value. */
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
