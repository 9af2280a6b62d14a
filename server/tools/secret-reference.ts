const reference = /\{\{secret\.([A-Za-z_][A-Za-z0-9_]{0,63})\}\}/g;

/** The names in a text's `{{secret.NAME}}`, each once. */
export const referencesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(reference)].map(([, name]) => name!)),
];

/** Whether something in a text was meant to be a reference and is none: it would be sent as it stands. */
export const hasBrokenReference = (text: string): boolean => /\{\{\s*secret\b/i.test(text.replace(reference, ""));

/** A text with values in place of its references. What a value says is not looked into again. */
export const withValues = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(reference, (whole, name: string) => (Object.hasOwn(values, name) ? values[name]! : whole));

/** How long it is then. */
export function lengthWithValues(text: string, values: Readonly<Record<string, string>>): number {
  let { length } = text;
  for (const [whole, name] of text.matchAll(reference))
    if (Object.hasOwn(values, name!)) length += values[name!]!.length - whole.length;
  return length;
}
