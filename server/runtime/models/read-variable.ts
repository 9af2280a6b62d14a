export type Environment = Record<string, string | undefined>;

/** Returns a trimmed variable, or null if it is empty: a line break pasted with a key would break the header. */
export function readVariable(env: Environment, variable: string): string | null {
  const value = env[variable]?.trim();
  return value ? value : null;
}

/** Returns the address in a variable, or null if it is empty. Throws if it is no address. */
export function readAddress(env: Environment, variable: string): string | null {
  const text = readVariable(env, variable);
  if (text === null) return null;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return text;
  throw new Error(`${variable} takes an address such as http://127.0.0.1:8080/v1.`);
}
