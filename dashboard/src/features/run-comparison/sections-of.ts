import type { DiffStep as StepPair, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Sides } from "../../../../server/domain/diff.ts";
import { stepKinds } from "../../../../server/domain/step-kinds.ts";
import { isExactNumber, parseExact } from "../../../../server/lib/exact-numbers.ts";
import { isJsonObject, jsonText } from "../../lib/json-text.ts";

/** One compared part of two steps: prose by words, other content by lines. Null if that side has no such step. */
export interface Section {
  title: string;
  kind: "prose" | "lines";
  a: string | null;
  b: string | null;
}

type Found = Sides<TraceStep | undefined>;

/** Returns the sections of a pair: the differing parts of two steps, or arguments and output of an unmatched one. */
export function sectionsOf(pair: StepPair, found: Found): Section[] {
  if (pair.change === "equal") return [];
  const fields = pair.change === "changed" ? fieldsOf(pair) : new Set(["output", "error", "arguments"]);
  const all = pair.type === "model_call" ? modelSections(found, fields) : otherSections(found, fields);
  const differingSections = [...all, ...factSections(found, fields)].filter(({ a, b }) => a !== b);
  return differingSections.length > 0 ? differingSections : pathSections(pair);
}

// The server reports at most this many differences; if it reports so many, further fields may differ.
const differencesMax = 100;

function fieldsOf({ differences }: StepPair): Set<string> {
  const changedFields = differences.map(({ path }) => path.split(/[.[]/)[0]!);
  return new Set(differences.length < differencesMax ? changedFields : [...changedFields, "input", "output", "error"]);
}

function modelSections(found: Found, fields: ReadonlySet<string>): Section[] {
  return [
    ...(fields.has("input") ? readSections(found) : []),
    ...(fields.has("reasoning") ? [section("Reasoning", found, ({ reasoning }) => reasoning ?? "")] : []),
    ...(fields.has("error") ? [section("Error", found, ({ error }) => error ?? "")] : []),
    ...(fields.has("output")
      ? [
          section("Text", found, ({ output }) => part(output, "content") ?? ""),
          { ...section("Calls", found, ({ output }) => callsText(part(output, "tool_calls"))), kind: "lines" as const },
        ]
      : []),
  ].filter(isSomething);
}

/** Messages new to the model that differ between the sides. */
function readSections(found: Found): Section[] {
  const [a, b] = [messagesOf(found.a), messagesOf(found.b)];
  const count = Math.max(a.length, b.length);
  return Array.from({ length: count }, (_, i) => {
    const role = String(part(b[i] ?? a[i], "role") ?? "message");
    const texts = pairOfTexts(a[i] && messageText(a[i]), b[i] && messageText(b[i]));
    return { title: `Input, ${role}`, ...texts };
  });
}

function otherSections(found: Found, fields: ReadonlySet<string>): Section[] {
  const isAlone = fields.has("arguments");
  return [
    ...(fields.has("input") || isAlone ? [section(titleOfInput(found), found, ({ input }) => input)] : []),
    ...(fields.has("output") || fields.has("error")
      ? [section("Output", found, ({ output, error }) => output ?? error ?? "")]
      : []),
  ].filter(isSomething);
}

function titleOfInput({ a, b }: Found): string {
  const step = b ?? a;
  return step && stepKinds[step.type]?.isCall ? "Arguments" : "Input";
}

const facts = {
  approval: ["Decision", (step: TraceStep) => step.approval && decisionText(step.approval)],
  files: [
    "Files",
    (step: TraceStep) => step.files?.map(({ filename, bytes }) => `${filename}, ${bytes} bytes`).join("\n"),
  ],
  finish_reason: ["Finish reason", (step: TraceStep) => step.finish_reason],
} as const;

function factSections(found: Found, fields: ReadonlySet<string>): Section[] {
  return Object.entries(facts)
    .filter(([field]) => fields.has(field))
    .map(([, [title, read]]) => section(title, found, (step) => read(step) ?? ""));
}

const decisionText = ({ decision, reason, edited }: NonNullable<TraceStep["approval"]>): string =>
  [`${decision}${edited ? ", with other arguments" : ""}`, ...(reason ? [reason] : [])].join(": ");

/** Differences without a section of their own, by path. */
function pathSections({ differences }: StepPair): Section[] {
  const text = (side: "a" | "b") => differences.map((each) => `${each.path}: ${oneLine(each[side])}`).join("\n");
  return differences.length > 0 ? [{ title: "Differences", kind: "lines", a: text("a"), b: text("b") }] : [];
}

const oneLine = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? null));

function section(title: string, { a, b }: Found, read: (step: TraceStep) => unknown): Section {
  return { title, ...pairOfTexts(a && read(a), b && read(b)) };
}

const isSomething = ({ a, b }: Section): boolean => Boolean(a || b);

/** Compares as JSON lines if either side is JSON, otherwise as prose. */
function pairOfTexts(a: unknown, b: unknown): Pick<Section, "kind" | "a" | "b"> {
  const [left, right] = [readText(a), readText(b)];
  const isProse = [left, right].every((each) => each === null || each.isProse || each.text === "");
  return { kind: isProse ? "prose" : "lines", a: left?.text ?? null, b: right?.text ?? null };
}

function readText(value: unknown): { text: string; isProse: boolean } | null {
  if (value === undefined) return null;
  if (typeof value !== "string") return { text: jsonText(value), isProse: false };
  const json = jsonIn(value);
  return json === null ? { text: value, isProse: true } : { text: jsonText(json), isProse: false };
}

// Longest text that is parsed as JSON.
const jsonMax = 256_000;

function jsonIn(text: string): object | null {
  if (text.length > jsonMax || !/^\s*[{[]/.test(text)) return null;
  try {
    const value: unknown = parseExact(text);
    return typeof value === "object" && !isExactNumber(value) ? value : null;
  } catch {
    return null;
  }
}

function messagesOf(step: TraceStep | undefined): unknown[] {
  const messages = part(step?.input, "messages");
  return Array.isArray(messages) ? messages : [];
}

function messageText(message: unknown): string {
  const calls = callsText(part(message, "tool_calls"));
  return [part(message, "content"), calls].filter((each) => typeof each === "string" && each !== "").join("\n");
}

function callsText(calls: unknown): string {
  if (!Array.isArray(calls)) return "";
  return calls.map((call) => `${part(call, "name")} ${jsonText(part(call, "arguments"))}`).join("\n");
}

const part = (value: unknown, field: string): unknown => (isJsonObject(value) ? value[field] : undefined);
