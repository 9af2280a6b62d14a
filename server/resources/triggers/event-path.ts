/** Place of a value in an event: `body.issue.title`, `body.items[0]`, `body["a.b"]` or `headers.x-github-event`. */
export interface EventPath {
  readonly root: "body" | "headers";
  readonly steps: readonly (string | number)[];
}

/** An event from outside. Names of headers are in lower case. */
export interface TriggerEvent {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

const maxLength = 256;
const maxSteps = 20;
const rootPattern = /^(body|headers)(?=[.[]|$)/;
const stepPattern = /\.([^.[\]{}"\s]+)|\[(\d{1,6})\]|\["([^"{}]+)"\]/y;

/** Returns the path that a text names, or null. */
export function parseEventPath(text: string): EventPath | null {
  const root = text.length <= maxLength ? (rootPattern.exec(text)?.[1] as EventPath["root"] | undefined) : undefined;
  if (root === undefined) return null;
  const steps: (string | number)[] = [];
  stepPattern.lastIndex = root.length;
  for (let end = root.length; end < text.length; end = stepPattern.lastIndex) {
    const [, name, index, quoted] = stepPattern.exec(text) ?? [];
    const step = index === undefined ? (name ?? quoted) : Number(index);
    if (step === undefined) return null;
    steps.push(step);
  }
  if (root === "body") return steps.length <= maxSteps ? { root, steps } : null;
  const [header, ...others] = steps;
  return typeof header === "string" && others.length === 0 ? { root, steps: [header.toLowerCase()] } : null;
}

/** Returns the value at a path; undefined if the event has none. Only own properties and items of lists are values. */
export function valueAt(event: TriggerEvent, { root, steps }: EventPath): unknown {
  let value: unknown = event[root];
  for (const step of steps) {
    if (typeof value !== "object" || value === null) return undefined;
    if (Array.isArray(value) && typeof step !== "number") return undefined; // Not its length.
    if (!Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

/**
 * Returns a value as text: JSON for objects and lists, and nothing for null and for what is missing. Half of an emoji,
 * which a sender cut, is replaced: providers of models refuse it.
 */
export function textOfValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value.toWellFormed() : JSON.stringify(value);
}
