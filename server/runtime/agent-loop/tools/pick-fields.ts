import { hasParts } from "../../../lib/json.ts";

/** Wanted fields of an object, by name; null: the whole value. */
type Wanted = Map<string, Wanted | null>;

/**
 * Returns a JSON value with only these fields. A path names fields from the outside to the inside, such as
 * `results.title`; lists are passed through. Without paths, and for a value without fields, returns the value as it is.
 */
export function pickFields(value: unknown, paths: readonly string[] | undefined): unknown {
  return paths ? pick(value, wantedOf(paths)) : value;
}

function wantedOf(paths: readonly string[]): Wanted {
  const root: Wanted = new Map();
  for (const path of paths) {
    let at: Wanted | null = root;
    const names = path.split(".");
    for (const [i, name] of names.entries()) {
      const isLast = i === names.length - 1;
      const next: Wanted | null | undefined = at.get(name);
      if (next === null) break; // A shorter path wants the whole value already.
      if (isLast) at.set(name, null);
      else if (next === undefined) at.set(name, new Map());
      at = at.get(name) ?? root;
    }
  }
  return root;
}

function pick(value: unknown, wanted: Wanted): unknown {
  if (!hasParts(value)) return value;
  if (Array.isArray(value)) return value.map((item) => pick(item, wanted));
  const picked: [string, unknown][] = [];
  for (const [name, inner] of wanted) {
    if (!Object.hasOwn(value, name)) continue;
    const field = (value as Record<string, unknown>)[name];
    picked.push([name, inner ? pick(field, inner) : field]);
  }
  return Object.fromEntries(picked);
}
