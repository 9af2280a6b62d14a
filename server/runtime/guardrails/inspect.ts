import type { Guardrail, GuardrailPoint } from "../../domain/agent-snapshot.ts";
import type { GuardrailDecided, GuardrailVerdict } from "../../domain/run-event.ts";
import { isNumber } from "../../lib/exact-numbers.ts";
import { hasParts, parsedJson } from "../../lib/json.ts";
import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn, withoutKinds } from "./compile.ts";
import { redact, type Source } from "./redaction.ts";

/** Result of a guardrail that triggered. It never repeats the text found. */
export type Triggered = Pick<GuardrailDecided, "guardrail" | "verdict" | "message" | "matches">;

/** A screened text or value and the guardrails that triggered; judges are not included. */
export interface ScreenResult<T> {
  value: T;
  triggered: Triggered[];
  /** The first blocking guardrail, or null. */
  blocked: Triggered | null;
  needs_approval: boolean;
}

/** Applies all guardrails of a point to a text; each checks the original text. */
export function screenText(list: CompiledGuardrails, on: "input" | "output", text: string): ScreenResult<string> {
  const activeGuardrails = guardrailsOn(list, on);
  const triggered = activeGuardrails.flatMap((one) => trigger(one, on, inspectText(one, text)));
  return conclude(redact(text, sourcesOf(activeGuardrails.filter(isRedacting), text)), triggered);
}

/** Applies guardrails to a tool's output. */
export const screenOutput = (list: CompiledGuardrails, output: unknown): ScreenResult<unknown> => {
  const here = guardrailsOn(list, "tool_output");
  const triggered = here.flatMap((one) => trigger(one, "tool_output", inspectValue(one, output)));
  return conclude(redactValue(here.filter(isRedacting), output), triggered);
};

/** Applies guardrails to a tool call. A search for tools is always allowed: it comes with the agent and calls nothing. */
export function screenCall(
  list: CompiledGuardrails,
  call: { tool: string; type?: string; arguments: Record<string, unknown> },
): ScreenResult<Record<string, unknown>> {
  const here = guardrailsOn(list, "tool_call");
  const isAllowed = (one: CompiledGuardrail): boolean | undefined =>
    call.type === "tool_search" || one.kind.allows?.(one.guardrail.config, call.tool);
  const inspect = (one: CompiledGuardrail): number =>
    one.kind.allows ? Number(!isAllowed(one)) : inspectValue(one, call.arguments);
  const triggered = here.flatMap((one) => trigger(one, "tool_call", inspect(one)));
  const value = redactValue(here.filter(isRedacting), call.arguments);
  return conclude(value as Record<string, unknown>, triggered);
}

/** Returns the number of violations in a text; 0 or 1 if the guardrail judges the whole. */
export function inspectText(one: CompiledGuardrail, text: string): number {
  const { kind, guardrail, places } = one;
  if (kind.fits) return Number(!kind.fits(guardrail.config, parsedJson(text)));
  return places.reduce((sum, { detector }) => sum + detector.search(text).length, 0);
}

/** Returns the number of violations in a JSON value: in its strings, keys and numbers. */
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

/** Redacts a value and keeps its shape, unless it is cut. */
function redactValue(list: CompiledGuardrails, value: unknown): unknown {
  const others = withoutKinds(list, "length");
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

/** Returns the result of a guardrail with this many matches; empty if there are none. */
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

export const conclude = <T>(value: T, triggered: Triggered[]): ScreenResult<T> => ({
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

/** Replaces a value whose text is too long by the beginning of that text. */
export function cutValue(one: CompiledGuardrail, value: unknown): unknown {
  const text = textOf(value);
  const sources = sourcesOf([one], text);
  return sources.length > 0 ? redact(text, sources) : value;
}

/** Rewrites the strings, keys and numbers of a value; unchanged numbers stay numbers. */
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

/** Keeps keys distinct that are equal after redaction. */
function unused(key: string, used: Set<string>): string {
  let name = key;
  for (let i = 2; used.has(name); i++) name = `${key}_${i}`;
  used.add(name);
  return name;
}
