const reference = /\{\{secret\.([A-Za-z_][A-Za-z0-9_]{0,63})\}\}/g;

/** Distinct names in a text's `{{secret.NAME}}` references. */
export const referencesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(reference)].map(([, name = ""]) => name)),
];

/** True if a text has a malformed reference, which would be sent literally. */
export const hasBrokenReference = (text: string): boolean => /\{\{\s*secret\b/i.test(text.replace(reference, ""));

/** A secret may be called like a property of every object, such as `constructor`. */
const valueFor = (values: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** Replaces references by their values, without resolving references in the values. */
export const withValues = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replace(reference, (whole, name: string) => valueFor(values, name) ?? whole);

/** Length of the text after replacement. */
export function lengthWithValues(text: string, values: Readonly<Record<string, string>>): number {
  let { length } = text;
  for (const [whole, name = ""] of text.matchAll(reference))
    length += (valueFor(values, name) ?? whole).length - whole.length;
  return length;
}
