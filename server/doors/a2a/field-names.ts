import { hasParts } from "../../lib/json.ts";
import { inSlices } from "../../lib/slices.ts";

/** What is the client's own: names within it are no fields. */
const theirs: ReadonlySet<string> = new Set(["data", "metadata"]);

// So many names or items between two looks at whether others wait.
const piece = 256;

/**
 * A message whose fields have the names that are read here. ProtoJSON lets a client write them in camel case or as the
 * protocol's definition has them: `taskId` and `task_id` are the same field. One of a hundred thousand parts is read in
 * slices.
 */
export async function inCamelCase(value: unknown): Promise<unknown> {
  const rest = inSlices();
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
