import type { Variable, VariableValue, VariableValues } from "../../domain/variable.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import { type TriggerEvent, textOfValue, valueAt } from "./event-path.ts";
import { parseTemplate, renderTemplate } from "./template.ts";

/** Values of an agent's variables by name: a text is a template, anything else is a constant. */
export type VariableTemplates = VariableValues;

/** Values that an event gives, and the places that it lacks. */
interface EventValues {
  values: VariableValues;
  missing: { name: string; paths: string[] }[];
}

/**
 * Returns the values that an event gives to variables. A value that is not of its variable's type is returned as it is,
 * for the run's check to refuse it by its name. A single place without a value gives none, so that the default applies.
 */
export function eventVariables(
  templates: VariableTemplates,
  declared: readonly Variable[],
  event: TriggerEvent,
): EventValues {
  const read = Object.entries(templates).map(([name, template]) => {
    const type = declared.find((variable) => variable.name === name)?.type ?? "string";
    return { name, ...readValue(template, type, event) };
  });
  return {
    values: Object.fromEntries(read.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]]))),
    missing: read.flatMap(({ name, missing }) => (missing.length > 0 ? [{ name, paths: missing }] : [])),
  };
}

function readValue(
  template: VariableValue,
  type: Variable["type"],
  event: TriggerEvent,
): { value?: VariableValue; missing: string[] } {
  if (typeof template !== "string") return { value: template, missing: [] };
  const place = placeIn(template);
  if (!place) {
    const { text, missing } = renderTemplate(template, event);
    return { value: asType(type, text), missing };
  }
  const value = valueAt(event, place.path);
  if (value === undefined) return { missing: [place.name] };
  if (value === null || (value === "" && type !== "string")) return { missing: [] };
  return { value: asType(type, value), missing: [] };
}

/** Returns the place of a template that is nothing but one place, or null. */
function placeIn(template: string) {
  const parsed = parseTemplate(template.trim());
  const [part, ...others] = "wrong" in parsed ? [] : parsed.parts;
  return part === undefined || typeof part === "string" || others.length > 0 ? null : part;
}

/** Returns a value as one of the type if it stands for one. All values of forms and headers are texts. */
function asType(type: Variable["type"], value: unknown): VariableValue {
  if (type === "string") return textOfValue(value);
  const spelled = typeof value === "string" ? value.trim() : "";
  if (type === "boolean")
    return spelled === "true" || spelled === "false" ? spelled === "true" : (value as VariableValue);
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(spelled);
  return (isNumber ? parseExact(spelled) : value) as VariableValue;
}

/** Values that stand for those of events until one comes. */
const samples = { string: "", number: 0, integer: 0, boolean: false } as const;

/**
 * Returns values with which the templates can be checked before an event comes: constants, and a value of the declared
 * type where an event decides.
 */
export const sampleVariables = (templates: VariableTemplates, declared: readonly Variable[]): VariableValues =>
  Object.fromEntries(
    Object.entries(templates).map(([name, template]): [string, VariableValue] => {
      const { type = "string", enum: choices } = declared.find((variable) => variable.name === name) ?? {};
      if (isConstant(template)) return [name, typeof template === "string" ? asType(type, template) : template];
      // Text around a place makes no number and no boolean.
      if (type !== "string" && !placeIn(String(template))) return [name, String(template)];
      return [name, choices?.[0] ?? samples[type]];
    }),
  );

function isConstant(template: VariableValue): boolean {
  const parsed = typeof template === "string" ? parseTemplate(template) : { parts: [] };
  return "parts" in parsed && parsed.parts.every((part) => typeof part === "string");
}
