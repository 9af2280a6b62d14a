export const variableTypes = ["string", "number", "integer", "boolean"] as const;
export type VariableType = (typeof variableTypes)[number];

export type VariableValue = string | number | boolean;

/** A variable that an agent declares. */
export interface Variable {
  name: string;
  type: VariableType;
  description?: string;
  /** Value of a run that gives none. */
  default?: VariableValue;
  /** True if a run without a value is refused; absent: it is an empty text. */
  required?: true;
  /** The only values of a `string`. */
  enum?: string[];
}

/** Values by name. Only own properties are values: a name may be `toString`. */
export type VariableValues = Record<string, VariableValue>;

/** A snippet as pinned by a run. */
export interface PinnedSnippet {
  name: string;
  version: number;
  text: string;
}
