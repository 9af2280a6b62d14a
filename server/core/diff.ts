import { isExactNumber } from "../lib/exact-numbers.ts";
import { isObject } from "../lib/json.ts";
import { equalJson } from "./equal.ts";
import type { StepType } from "./step-kinds.ts";
import type { TraceStep } from "./trace.ts";

/** One place where two steps differ: `path` as in `output.tool_calls[0].arguments.city`; undefined is written as null. */
interface Difference {
  path: string;
  a: unknown;
  b: unknown;
}

/** A step of one run beside the one of the other that it corresponds to, or beside none. */
export interface StepPair {
  /** Its place in the whole comparison, from 0. */
  index: number;
  a_step_index: number | null;
  b_step_index: number | null;
  type: StepType;
  name: string;
  change: "equal" | "changed" | "only_a" | "only_b";
  differences: Difference[];
  latency_ms: Both<number | null>;
  /** What the step cost, also where it was paid for by the run that it was taken from. */
  cost_usd: Both<number | null>;
}

/** The same of both runs; null where nobody knows, or one has no such step. */
export interface Both<T> {
  a: T;
  b: T;
}

// What a reader can take in of one step, and of one value.
const differencesMax = 100;
const textMax = 4000;
// Where there is more to be tried, which no model asks for, turns and steps are taken in their order.
const cellsMax = 250_000;

/**
 * Compares two traces step by step: turns with turns of the same shape, and within them calls of the same tool. Ids and
 * times are no differences, nor is what a step cost. Each pair is compared when somebody asks for it.
 */
export function* stepPairs(a: readonly TraceStep[], b: readonly TraceStep[]): Generator<StepPair> {
  const turnOf = turnsOf();
  const turns = [a, b].map((steps) => [...Map.groupBy(steps, ({ turn_index }) => turn_index).values()].map(turnOf));
  let index = 0;
  for (const [left, right] of aligned(turns[0]!, turns[1]!, 1)) {
    const itemOf = itemsOf();
    const [before, after] = [left, right].map((steps) => (steps ?? []).map(itemOf));
    for (const pair of aligned(before!, after!, 0)) yield pairOf(pair, index++);
  }
}

/** By how much `b` is more than `a`. */
export const deltaOf = ({ a, b }: Both<number | null>): number | null => (a === null || b === null ? null : b - a);

type Pair<T> = [a: T | null, b: T | null];

/** What is to be paired, with numbers that are equal for what is of one kind, and for what was asked in the same words. */
interface Item<T> {
  value: T;
  kind: number;
  asked: number;
  /** Its number in its own run: of two that are alike, the one of the same number is meant. */
  place: number;
}

/** A fork may ask another model: its calls correspond all the same. */
const kindOf = ({ type, name }: TraceStep): string => (type === "model_call" ? type : `${type} ${name}`);

function itemsOf(): (step: TraceStep) => Item<TraceStep> {
  const numberOf = numbering();
  return (step) => ({
    value: step,
    kind: numberOf(kindOf(step)),
    asked: numberOf(step.input_hash ?? JSON.stringify(step.input ?? null)),
    place: step.step_index,
  });
}

function turnsOf(): (steps: TraceStep[]) => Item<TraceStep[]> {
  const numberOf = numbering();
  return (steps) => ({
    value: steps,
    kind: numberOf(steps.map(kindOf).join()),
    asked: numberOf(steps.map(({ input_hash }) => input_hash ?? "").join()),
    place: steps[0]!.turn_index,
  });
}

/** Numbers for texts, which are compared more often than they could be read. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const known = numbers.get(text) ?? numbers.size;
    numbers.set(text, known);
    return known;
  };
}

/**
 * The two lists side by side, so that as many as can be stand beside one of their kind, and of those as many as can be
 * beside one that was asked the same; `unlike` is 1 where others may stand beside each other too.
 */
function aligned<T>(a: readonly Item<T>[], b: readonly Item<T>[], unlike: 0 | 1): Pair<T>[] {
  const shorter = Math.min(a.length, b.length);
  const same = (i: number, j: number): boolean => likeness(a[i]!, b[j]!, unlike) === likest;
  let head = 0;
  while (head < shorter && same(head, head) && a[head]!.place === b[head]!.place) head++;
  let tail = 0;
  // Calls of one turn may be the same to the letter: of these, the ones of the same number are meant.
  const isMeant = (i: number, j: number): boolean => unlike === 1 || a[i]!.place === b[j]!.place;
  for (let [i, j] = [a.length - 1, b.length - 1]; tail < shorter - head && same(i, j) && isMeant(i, j); i--, j--)
    tail++;
  const [endOfA, endOfB] = [a.length - tail, b.length - tail];
  const middle = [a.slice(head, endOfA), b.slice(head, endOfB)] as const;
  const pairs = middle[0].length * middle[1].length > cellsMax ? inOrder : likestPairs;
  return [
    ...a.slice(0, head).map(({ value }, i): Pair<T> => [value, b[i]!.value]),
    ...pairs(...middle, unlike),
    ...a.slice(endOfA).map(({ value }, i): Pair<T> => [value, b[endOfB + i]!.value]),
  ];
}

const likest = 3;

const likeness = (a: Item<unknown>, b: Item<unknown>, unlike: 0 | 1): number =>
  a.kind !== b.kind ? unlike : a.asked === b.asked ? likest : 2;

// More than there are pairs: the number of a step decides only where nothing else does.
const oneLikeness = 1024;

function weight(a: Item<unknown>, b: Item<unknown>, unlike: 0 | 1): number {
  const like = likeness(a, b, unlike);
  return like === 0 ? 0 : like * oneLikeness + (a.place === b.place ? 1 : 0);
}

function likestPairs<T>(a: readonly Item<T>[], b: readonly Item<T>[], unlike: 0 | 1): Pair<T>[] {
  const best = likenesses(a, b, unlike);
  const pairs: Pair<T>[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const like = weight(a[i]!, b[j]!, unlike);
    if (like > 0 && best(i, j) === like + best(i + 1, j + 1)) pairs.push([a[i++]!.value, b[j++]!.value]);
    else if (best(i + 1, j) >= best(i, j + 1)) pairs.push([a[i++]!.value, null]);
    else pairs.push([null, b[j++]!.value]);
  }
  return [...pairs, ...alone(a.slice(i), []), ...alone([], b.slice(j))];
}

/** How like each other what is left from `i` and `j` on can be made to stand. */
function likenesses(a: readonly Item<unknown>[], b: readonly Item<unknown>[], unlike: 0 | 1) {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      table[i * width + j] = Math.max(
        table[(i + 1) * width + j + 1]! + weight(a[i]!, b[j]!, unlike),
        table[(i + 1) * width + j]!,
        table[i * width + j + 1]!,
      );
  return (i: number, j: number): number => table[i * width + j]!;
}

const inOrder = <T>(a: readonly Item<T>[], b: readonly Item<T>[], unlike: 0 | 1): Pair<T>[] =>
  Array.from({ length: Math.max(a.length, b.length) }).flatMap((_, i): Pair<T>[] => {
    const [left, right] = [a[i], b[i]];
    if (left && right && likeness(left, right, unlike) > 0) return [[left.value, right.value]];
    return alone(left ? [left] : [], right ? [right] : []);
  });

const alone = <T>(a: readonly Item<T>[], b: readonly Item<T>[]): Pair<T>[] => [
  ...a.map(({ value }): Pair<T> => [value, null]),
  ...b.map(({ value }): Pair<T> => [null, value]),
];

function pairOf([a, b]: Pair<TraceStep>, index: number): StepPair {
  const { type, name } = (a ?? b)!;
  const place = { index, a_step_index: a?.step_index ?? null, b_step_index: b?.step_index ?? null, type, name };
  const figures = {
    latency_ms: { a: a?.latency_ms ?? null, b: b?.latency_ms ?? null },
    cost_usd: { a: a?.usage?.cost_usd ?? null, b: b?.usage?.cost_usd ?? null },
  };
  if (!a || !b) return { ...place, change: a ? "only_a" : "only_b", differences: [], ...figures };
  // What was taken from a record is not judged anew: that only one side has an approval is no difference then.
  const judged = !a.replayed && !b.replayed;
  const differences = differencesOf(told(a, judged), told(b, judged));
  return { ...place, change: differences.length > 0 ? "changed" : "equal", differences, ...figures };
}

/** What a step says, without ids, times and cost. */
const told = ({ type, input, output, approval, subagent, files = [], ...step }: TraceStep, judged: boolean) => ({
  status: step.status,
  model: step.model,
  input: type === "model_call" ? withoutIds(input) : input,
  output: type === "model_call" ? withoutIds(output) : output,
  reasoning: step.reasoning,
  finish_reason: step.finish_reason,
  error: step.error,
  approval: judged && approval && { decision: approval.decision, reason: approval.reason, edited: approval.edited },
  subagent: subagent && { agent_id: subagent.agent_id },
  files: files.map(({ filename, bytes, sha256 }) => ({ filename, bytes, sha256 })),
});

const idFields = new Set(["id", "created_at", "tool_call_id"]);

/** Messages and calls of a model's step have ids of their own. */
function withoutIds(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { messages, tool_calls, ...rest } = value as { messages?: unknown; tool_calls?: unknown };
  return {
    ...rest,
    ...(Array.isArray(messages) && { messages: messages.map(withoutOwnIds) }),
    ...(Array.isArray(tool_calls) && { tool_calls: tool_calls.map(withoutOwnIds) }),
  };
}

function withoutOwnIds(item: unknown): unknown {
  if (typeof item !== "object" || item === null) return item;
  const kept = Object.fromEntries(Object.entries(item).filter(([field]) => !idFields.has(field)));
  return withoutIds(kept);
}

/** The places where two JSON values differ, as deep as they go. */
export function differencesOf(a: unknown, b: unknown): Difference[] {
  const found: Difference[] = [];
  visit(a, b, "", found);
  return found;
}

function visit(a: unknown, b: unknown, path: string, found: Difference[]): void {
  if (a === b || (isExactNumber(a) && equalJson(a, b)) || found.length >= differencesMax) return;
  const isList = Array.isArray(a) && Array.isArray(b);
  if (!isList && !(isObject(a) && isObject(b))) {
    found.push({ path, a: short(a), b: short(b) });
    return;
  }
  const below = (field: string): string => (isList ? `${path}[${field}]` : path ? `${path}.${field}` : field);
  for (const field of new Set([...Object.keys(a), ...Object.keys(b)]))
    visit(own(a, field), own(b, field), below(field), found);
}

const own = (object: object, field: string): unknown =>
  Object.hasOwn(object, field) ? (object as Record<string, unknown>)[field] : undefined;

function short(value: unknown): unknown {
  const text = typeof value === "string" ? value : JSON.stringify(value ?? null);
  if (text.length <= textMax) return value ?? null;
  return `${text.slice(0, textMax).toWellFormed()}… (${text.length} characters)`;
}
