/** Returns the JSON of a file, or undefined if it is none. The server checks the rest. */
export function parseTable(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
