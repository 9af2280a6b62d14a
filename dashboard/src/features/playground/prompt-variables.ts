import { isJsonObject, readJson } from "../../lib/json-text.ts";

const variable = /\{\{\s*([\p{L}_][\p{L}\p{M}\p{N}_-]*)\s*\}\}/gu;

/** Returns the names of all variables in the texts, such as `customer` of `{{customer}}`: each once, in order. */
export const variablesIn = (...texts: readonly string[]): string[] => [
  ...new Set(texts.flatMap((text) => [...text.matchAll(variable)].map(([, name = ""]) => name))),
];

/** Returns a variable's value; empty for inherited names such as `constructor`. */
export const variableValue = (values: Readonly<Record<string, string>>, name: string): string =>
  Object.hasOwn(values, name) ? values[name]! : "";

/** Replaces the variables of a text. Variables without a value stay, and values are not expanded again. */
export const fillVariables = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(variable, (written, name: string) => variableValue(values, name) || written);

/** Parses the stored values of this tab. */
export function parseStoredValues(text: string): Record<string, string> {
  const { value } = readJson(text);
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
