export type Environment = Record<string, string | undefined>;

/** Returns a trimmed variable, or null if it is empty: a line break pasted with a key would break the header. */
export function readVariable(env: Environment, variable: string): string | null {
  const value = env[variable]?.trim();
  return value ? value : null;
}
