import { isJsonObject, readJson } from "../../lib/json-text.ts";

const variable = /\{\{\s*([\p{L}_][\p{L}\p{M}\p{N}_-]*)\s*\}\}/gu;

/** The names of all variables of some texts, such as `customer` of `{{customer}}`: each once, in their order. */
export const variablesIn = (...texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(variable)].map(([, name = ""]) => name))),
];

/** What a variable was given; a name such as `constructor` has nothing of its own at first. */
export const givenFor = (values: Readonly<Record<string, string>>, name: string): string =>
  Object.hasOwn(values, name) ? values[name]! : "";

/** A text with its variables replaced; one without a value stays as it is written. Values are not read for variables. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(variable, (written, name: string) => givenFor(values, name) || written);

/** The values that were kept for the tab. */
export function keptValues(text: string): Record<string, string> {
  const { value } = readJson(text);
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
