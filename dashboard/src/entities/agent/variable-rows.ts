import type { Variable, VariableType, VariableValue } from "../../../../server/domain/variable.ts";

/** A variable in the form: its values as text. */
export interface VariableRow {
  name: string;
  type: VariableType;
  description: string;
  /** Empty: none. */
  default: string;
  required: boolean;
  /** Values of a text, one per line; empty: any. */
  choices: string;
}

export const newVariableRow: VariableRow = {
  name: "",
  type: "string",
  description: "",
  default: "",
  required: true,
  choices: "",
};

export const toVariableRow = ({ name, type, description, default: preset, required, enum: choices }: Variable) => ({
  name,
  type,
  description: description ?? "",
  default: preset === undefined ? "" : String(preset),
  required: required ?? false,
  choices: (choices ?? []).join("\n"),
});

/** Returns the variable of a row. A default that cannot be read stays a text, which the server refuses. */
export function fromVariableRow({ name, type, description, default: preset, required, choices }: VariableRow): object {
  const values = choices
    .split("\n")
    .map((choice) => choice.trim())
    .filter(Boolean);
  return {
    name: name.trim(),
    type,
    ...(description.trim() !== "" && { description: description.trim() }),
    ...(preset !== "" && { default: typedValue(type, preset) }),
    ...(required && { required }),
    ...(type === "string" && values.length > 0 && { enum: values }),
  };
}

/** Returns a typed text as a value of this type; the text itself if it is none. */
export function typedValue(type: VariableType, text: string): VariableValue {
  const written = text.trim();
  if (type === "boolean") return written === "true" ? true : written === "false" ? false : text;
  if (type === "string" || written === "" || !Number.isFinite(Number(written))) return text;
  return Number(written);
}

/** Returns the values to send: those that are typed, as values of their types. */
export function typedValues(
  variables: readonly Variable[],
  texts: Readonly<Record<string, string>>,
): Record<string, VariableValue> {
  const given = variables.flatMap(({ name, type }): [string, VariableValue][] => {
    const text = Object.hasOwn(texts, name) ? (texts[name] ?? "") : "";
    return text === "" ? [] : [[name, typedValue(type, text)]];
  });
  return Object.fromEntries(given);
}

/** Returns the name of the first variable whose value a run must give, and that has none; null if there is none. */
export const missingVariable = (
  variables: readonly Variable[],
  given: Readonly<Record<string, VariableValue>>,
): string | null =>
  variables.find(({ name, required, default: preset }) => required && preset === undefined && !(name in given))?.name ??
  null;
