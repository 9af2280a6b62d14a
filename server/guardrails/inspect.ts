import type { Guardrail, GuardrailPoint } from "../core/agent-snapshot.ts";
import type { GuardrailDecided, GuardrailVerdict } from "../core/run-event.ts";
import { isNumber } from "../lib/exact-numbers.ts";
import { hasParts, parsedJson } from "../lib/json.ts";
import { type CompiledGuardrail, type CompiledGuardrails, except, guardrailsOn } from "./compile.ts";
import { redact, type Source } from "./redaction.ts";

/** What a guardrail that found something says. It never repeats what it found. */
export type Triggered = Pick<GuardrailDecided, "guardrail" | "verdict" | "message" | "matches">;

/** What became of a text or a value, and which guardrails had something to say; judges are not asked here. */
export interface Screened<T> {
  value: T;
  triggered: Triggered[];
  /** The first that blocks, or null. */
  blocked: Triggered | null;
  needs_approval: boolean;
}

/** All guardrails of a point over a text: each reads the text as it came. */
export function screenText(list: CompiledGuardrails, on: "input" | "output", text: string): Screened<string> {
  const here = guardrailsOn(list, on);
  const triggered = here.flatMap((one) => trigger(one, on, inspectText(one, text)));
  return conclude(redact(text, sourcesOf(here.filter(isRedacting), text)), triggered);
}

/** The same over what a tool gave. */
export const screenOutput = (list: CompiledGuardrails, output: unknown): Screened<unknown> => {
  const here = guardrailsOn(list, "tool_output");
  const triggered = here.flatMap((one) => trigger(one, "tool_output", inspectValue(one, output)));
  return conclude(redactValue(here.filter(isRedacting), output), triggered);
};

/** The same over what the model asks of a tool. */
export function screenCall(
  list: CompiledGuardrails,
  call: { tool: string; arguments: Record<string, unknown> },
): Screened<Record<string, unknown>> {
  const here = guardrailsOn(list, "tool_call");
  const inspect = (one: CompiledGuardrail): number =>
    one.kind.allows ? Number(!one.kind.allows(one.guardrail.config, call.tool)) : inspectValue(one, call.arguments);
  const triggered = here.flatMap((one) => trigger(one, "tool_call", inspect(one)));
  const value = redactValue(here.filter(isRedacting), call.arguments);
  return conclude(value as Record<string, unknown>, triggered);
}

/** How many places of a text a guardrail objects to; where it looks at the whole, 0 or 1. */
export function inspectText(one: CompiledGuardrail, text: string): number {
  const { kind, guardrail, places } = one;
  if (kind.fits) return Number(!kind.fits(guardrail.config, parsedJson(text)));
  return places.reduce((sum, { detector }) => sum + detector.search(text).length, 0);
}

/** The same of a JSON value: of its strings, its keys and its numbers. */
function inspectValue(one: CompiledGuardrail, value: unknown): number {
  const { kind, guardrail } = one;
  if (kind.fits) return Number(!kind.fits(guardrail.config, value));
  if (kind.about === "length") return inspectText(one, textOf(value));
  let matches = 0;
  if (one.places.length > 0)
    rewrite(value, (text) => {
      matches += inspectText(one, text);
      return text;
    });
  return matches;
}

/** A value without what these guardrails find in it: of the same shape, unless it is cut. */
function redactValue(list: CompiledGuardrails, value: unknown): unknown {
  const others = except(list, "length");
  let without = others.length > 0 ? rewrite(value, (text) => redact(text, sourcesOf(others, text))) : value;
  for (const one of list.filter(({ kind }) => kind.about === "length")) without = cutValue(one, without);
  return without;
}

export const isRedacting = ({ guardrail }: CompiledGuardrail): boolean => guardrail.action === "redact";

const verdicts = {
  block: "blocked",
  redact: "redacted",
  flag: "flagged",
  require_approval: "approval_required",
} as const satisfies Record<Guardrail["action"], GuardrailVerdict>;

/** What is said of a guardrail with so many matches at a point; nothing of one that has none. */
export function trigger(
  { index, guardrail, kind }: CompiledGuardrail,
  on: GuardrailPoint,
  matches: number,
): Triggered[] {
  if (matches === 0) return [];
  const { type, action, config } = guardrail;
  return [
    {
      guardrail: { index, type, on },
      verdict: verdicts[action],
      message: kind.message(config),
      matches,
    },
  ];
}

export const conclude = <T>(value: T, triggered: Triggered[]): Screened<T> => ({
  value,
  triggered,
  blocked: triggered.find(({ verdict }) => verdict === "blocked") ?? null,
  needs_approval: triggered.some(({ verdict }) => verdict === "approval_required"),
});

function sourcesOf(list: CompiledGuardrails, text: string): Source[] {
  return list
    .flatMap(({ places }) => places.map(({ detector, mark }) => ({ mark, spans: detector.search(text) })))
    .filter(({ spans }) => spans.length > 0);
}

export const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

/** A value whose text is too long becomes what of its text may stay. */
export function cutValue(one: CompiledGuardrail, value: unknown): unknown {
  const text = textOf(value);
  const sources = sourcesOf([one], text);
  return sources.length > 0 ? redact(text, sources) : value;
}

/** The same value with other texts: its strings, keys, and numbers, which stay numbers where nothing is changed. */
export function rewrite(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === "string") return change(value);
  if (isNumber(value)) {
    const text = JSON.stringify(value);
    const changed = change(text);
    return changed === text ? value : changed;
  }
  if (Array.isArray(value)) return value.map((each) => rewrite(each, change));
  if (!hasParts(value)) return value;
  const used = new Set<string>();
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [unused(change(key), used), rewrite(each, change)]),
  );
}

/** Two keys that are the same without what was taken out stay two. */
function unused(key: string, used: Set<string>): string {
  let name = key;
  for (let i = 2; used.has(name); i++) name = `${key}_${i}`;
  used.add(name);
  return name;
}
