import { firstItem } from "../lib/collections.ts";
import { isExactNumber } from "../lib/exact-numbers.ts";
import { isObject } from "../lib/json.ts";
import { requireValue } from "../lib/require-value.ts";
import { equalJson } from "./equal.ts";
import type { StepType } from "./step-kinds.ts";
import type { TraceStep } from "./trace.ts";

/** A difference of two steps: `path` such as `output.tool_calls[0].arguments.city`; undefined is written as null. */
interface Difference {
  path: string;
  a: unknown;
  b: unknown;
}

/** A step of one run and its counterpart in the other; either may be missing. */
export interface StepPair {
  /** Index in the whole comparison, from 0. */
  index: number;
  a_step_index: number | null;
  b_step_index: number | null;
  type: StepType;
  name: string;
  change: "equal" | "changed" | "only_a" | "only_b";
  differences: Difference[];
  latency_ms: Sides<number | null>;
  /** Cost of the step, also if the source run of a fork paid for it. */
  cost_usd: Sides<number | null>;
}

/** A value for both runs; null if it is unknown or the run has no such step. */
export interface Sides<T> {
  a: T;
  b: T;
}

// Limits of what people can read: differences per step, and characters per value.
const differencesMax = 100;
const textMax = 4000;
// Above this many cells, which real runs do not reach, turns and steps are paired by their order.
const cellsMax = 250_000;

/**
 * Compares two traces step by step: turns with turns of the same shape, and within them calls of the same tool. Ignores
 * ids, times and costs. Each pair is compared when it is read.
 */
export function* stepPairs(a: readonly TraceStep[], b: readonly TraceStep[]): Generator<StepPair> {
  const turnOf = turnsOf();
  const groupsOf = (steps: readonly TraceStep[]) =>
    [...Map.groupBy(steps, ({ turn_index }) => turn_index).values()].map(turnOf);
  let index = 0;
  for (const [left, right] of aligned(groupsOf(a), groupsOf(b), 1)) {
    const itemOf = itemsOf();
    const [before, after] = [(left ?? []).map(itemOf), (right ?? []).map(itemOf)];
    for (const pair of aligned(before, after, 0)) yield pairOf(pair, index++);
  }
}

/** Returns `b - a`; null if either is unknown. */
export const deltaOf = ({ a, b }: Sides<number | null>): number | null => (a === null || b === null ? null : b - a);

type Pair<T> = [a: T | null, b: T | null];

/** An item to pair. Equal `kind` numbers mark items of one kind, equal `asked` numbers the same input. */
interface Item<T> {
  value: T;
  kind: number;
  asked: number;
  /** Index in its own run, which decides between otherwise equal items. */
  place: number;
}

/** A fork may use another model, so the model's name does not matter. */
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
    place: firstItem(steps).turn_index,
  });
}

/** Replaces texts by numbers, which are faster to compare. */
function numbering(): (text: string) => number {
  const numbers = new Map<string, number>();
  return (text) => {
    const known = numbers.get(text) ?? numbers.size;
    numbers.set(text, known);
    return known;
  };
}

/**
 * Aligns two lists so that the most items stand next to one of their kind, and among those the most next to one with
 * the same input. `unlike` is 1 if items of different kinds may be paired too.
 */
function aligned<T>(a: readonly Item<T>[], b: readonly Item<T>[], unlike: 0 | 1): Pair<T>[] {
  const shorter = Math.min(a.length, b.length);
  const same = (i: number, j: number, isPlaced: boolean): boolean => {
    const [left, right] = [a[i], b[j]];
    if (!left || !right || likeness(left, right, unlike) !== likest) return false;
    return !isPlaced || left.place === right.place;
  };
  let head = 0;
  while (same(head, head, true)) head++;
  let tail = 0;
  // Equal calls of one turn are paired by their index.
  while (tail < shorter - head && same(a.length - 1 - tail, b.length - 1 - tail, unlike === 0)) tail++;
  const [endOfA, endOfB] = [a.length - tail, b.length - tail];
  const middle = [a.slice(head, endOfA), b.slice(head, endOfB)] as const;
  const pairs = middle[0].length * middle[1].length > cellsMax ? inOrder : likestPairs;
  return [
    ...inOrder(a.slice(0, head), b.slice(0, head), unlike),
    ...pairs(...middle, unlike),
    ...inOrder(a.slice(endOfA), b.slice(endOfB), unlike),
  ];
}

const likest = 3;

const likeness = (a: Item<unknown>, b: Item<unknown>, unlike: 0 | 1): number =>
  a.kind !== b.kind ? unlike : a.asked === b.asked ? likest : 2;

// Above the number of pairs, so that the index decides only between equals.
const oneLikeness = 1024;

function weight(a: Item<unknown>, b: Item<unknown>, unlike: 0 | 1): number {
  const like = likeness(a, b, unlike);
  return like === 0 ? 0 : like * oneLikeness + (a.place === b.place ? 1 : 0);
}

function likestPairs<T>(a: readonly Item<T>[], b: readonly Item<T>[], unlike: 0 | 1): Pair<T>[] {
  const best = likenesses(a, b, unlike);
  const pairs: Pair<T>[] = [];
  let [i, j] = [0, 0];
  for (let [left, right] = [a[0], b[0]]; left && right; [left, right] = [a[i], b[j]]) {
    const like = weight(left, right, unlike);
    const isPair = like > 0 && best(i, j) === like + best(i + 1, j + 1);
    const isAlone = !isPair && best(i + 1, j) >= best(i, j + 1);
    pairs.push(isPair ? [left.value, right.value] : isAlone ? [left.value, null] : [null, right.value]);
    if (isPair || isAlone) i++;
    if (!isAlone) j++;
  }
  return [...pairs, ...alone(a.slice(i), []), ...alone([], b.slice(j))];
}

/** Returns the best total likeness of the rest from `i` and `j` on. */
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
  const { type, name } = requireValue(a ?? b, "Either step of a pair");
  const place = { index, a_step_index: a?.step_index ?? null, b_step_index: b?.step_index ?? null, type, name };
  const figures = {
    latency_ms: { a: a?.latency_ms ?? null, b: b?.latency_ms ?? null },
    cost_usd: { a: a?.usage?.cost_usd ?? null, b: b?.usage?.cost_usd ?? null },
  };
  if (!a || !b) return { ...place, change: a ? "only_a" : "only_b", differences: [], ...figures };
  // Copied steps are not judged again, so an approval on one side only is no difference.
  const judged = !a.replayed && !b.replayed;
  const differences = differencesOf(comparedFields(a, judged), comparedFields(b, judged));
  return { ...place, change: differences.length > 0 ? "changed" : "equal", differences, ...figures };
}

/** Returns the compared fields of a step, without ids, times and cost. */
const comparedFields = (
  { type, input, output, approval, subagent, files = [], ...step }: TraceStep,
  judged: boolean,
) => ({
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

/** Removes the ids of a model call's messages and calls. */
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

/** Returns the differences of two JSON values, at any depth. */
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
