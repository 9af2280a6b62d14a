import { createYielder } from "../../lib/cooperative-yield.ts";
import { hasParts } from "../../lib/json.ts";

/** Fields with the client's own data: names within them stay as they are. */
const theirs: ReadonlySet<string> = new Set(["data", "metadata"]);

// Number of names or items between two checks whether to yield.
const piece = 256;

/**
 * Renames the fields of a message to camel case, because ProtoJSON also allows `task_id` for `taskId`. Yields between
 * slices: a message may have a hundred thousand parts.
 */
export async function inCamelCase(value: unknown): Promise<unknown> {
  const rest = createYielder();
  const left: [from: object, into: Record<string, unknown> | unknown[]][] = [];
  const taken = (of: unknown): unknown => {
    if (!hasParts(of)) return of;
    const into = Array.isArray(of) ? [] : {};
    left.push([of, into]);
    return into;
  };
  const whole = taken(value);
  let count = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    const [from, into] = next;
    for (const [name, of] of Array.isArray(from) ? from.entries() : Object.entries(from)) {
      if (typeof name === "number") (into as unknown[])[name] = taken(of);
      else (into as Record<string, unknown>)[camelCase(name)] = theirs.has(name) ? of : taken(of);
      if (++count % piece === 0) await rest();
    }
  }
  return whole;
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
