/** Returns a value that must be there. Throws an error that names it otherwise: that is a bug or a damaged record. */
export function requireValue<T>(value: T, name: string): NonNullable<T> {
  if (value === undefined || value === null) throw new Error(`${name} is missing.`);
  return value;
}
