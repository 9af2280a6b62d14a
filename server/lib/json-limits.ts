const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 91, 93, 123, 125];

/** Whether JSON text nests no deeper than this. Asked of the bytes, since a parser has used the stack before it can say no. */
export function isShallow(json: Uint8Array, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (inString) {
      if (byte === backslash) i++;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxDepth) return false;
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
  return true;
}

/** {@link isShallow} for a value that is already parsed. */
export function isShallowValue(value: unknown, maxDepth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return maxDepth > 0 && Object.values(value).every((inner) => isShallowValue(inner, maxDepth - 1));
}

const dangerous = new Set(["__proto__", "constructor", "prototype"]);

/** Path of the first key that could reach an object's prototype if anybody ever merged the value, or null. */
export function findDangerousKey(value: unknown): string | null {
  const place = dangerousPlace(value);
  return place && (place.startsWith(".") ? place.slice(1) : place);
}

/** Named on the way back: millions of values are looked at, and of one the place is told. */
function dangerousPlace(value: unknown): string | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = dangerousPlace(value[i]);
      if (found !== null) return `[${i}]${found}`;
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (dangerous.has(key)) return `.${key}`;
    const found = dangerousPlace((value as Record<string, unknown>)[key]);
    if (found !== null) return `.${key}${found}`;
  }
  return null;
}

/** Whether it is worth looking for a dangerous key at all: true for any text that could hold one, also escaped. */
export const mayHoldDangerousKey = (json: string): boolean => /__proto__|constructor|prototype|\\u/.test(json);

/** What is wrong with JSON from a model or a tool, as a sentence, or null: too deep to serialise, or unsafe to merge. */
export function jsonFault(value: unknown, maxDepth = 64): string | null {
  if (!isShallowValue(value, maxDepth)) return `The JSON nests deeper than ${maxDepth}.`;
  const key = findDangerousKey(value);
  return key === null ? null : `The key ${key} is not allowed.`;
}
