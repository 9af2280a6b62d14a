/** A field of the form that an MCP server asks the user to fill in. */
export interface ElicitationField {
  name: string;
  label: string;
  hint: string | null;
  type: "text" | "number" | "boolean" | "choice" | "choices";
  /** For texts: the type of an HTML input. */
  input: "text" | "email" | "url" | "date" | "datetime-local";
  options: { value: string; label: string }[];
  isRequired: boolean;
  /** As texts; a choice of several has one for each. */
  initial: string[];
}

type Raw = Record<string, unknown>;

const isRaw = (value: unknown): value is Raw => typeof value === "object" && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Returns the fields of a requested schema, whose properties are plain values or lists of choices. */
export function elicitationFields(schema: Raw): ElicitationField[] {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = isRaw(schema.properties) ? schema.properties : {};
  return Object.entries(properties).map(([name, property]) => {
    const each = isRaw(property) ? property : {};
    const isList = each.type === "array";
    const options = optionsOf(isList && isRaw(each.items) ? each.items : each);
    return {
      name,
      label: textOf(each.title) ?? name,
      hint: textOf(each.description),
      type: isList ? "choices" : options.length > 0 ? "choice" : typeOf(each.type),
      input: inputs[String(each.format)] ?? "text",
      options,
      isRequired: required.includes(name),
      initial: (Array.isArray(each.default) ? each.default : [each.default]).flatMap((value) =>
        value === undefined || value === null ? [] : [String(value)],
      ),
    };
  });
}

const typeOf = (type: unknown): ElicitationField["type"] =>
  type === "boolean" ? "boolean" : type === "number" || type === "integer" ? "number" : "text";

const inputs: Record<string, ElicitationField["input"]> = { email: "email", uri: "url", date: "date" };

function optionsOf({ enum: values, enumNames, oneOf, anyOf }: Raw): ElicitationField["options"] {
  if (Array.isArray(values))
    return values.map((value, index) => ({
      value: String(value),
      label: (Array.isArray(enumNames) ? textOf(enumNames[index]) : null) ?? String(value),
    }));
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  return titled.flatMap((each) =>
    isRaw(each) && "const" in each
      ? [{ value: String(each.const), label: textOf(each.title) ?? String(each.const) }]
      : [],
  );
}

/** Returns the content of an answer. Fields that are left empty are left out. */
export function elicitationContent(
  fields: readonly ElicitationField[],
  values: Readonly<Record<string, readonly string[]>>,
): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap(({ name, type, isRequired }): [string, unknown][] => {
      const given = values[name] ?? [];
      if (type === "boolean") return [[name, given[0] === "true"]];
      if (type === "choices") return given.length > 0 || isRequired ? [[name, [...given]]] : [];
      const [text = ""] = given;
      if (text === "") return [];
      return [[name, type === "number" && Number.isFinite(Number(text)) ? Number(text) : text]];
    }),
  );
}

/** Returns the names of required fields that have no value. A checkbox always has one. */
export const missingFields = (
  fields: readonly ElicitationField[],
  values: Readonly<Record<string, readonly string[]>>,
): string[] =>
  fields
    .filter(({ name, type, isRequired }) => isRequired && type !== "boolean" && (values[name]?.[0] ?? "") === "")
    .map(({ name }) => name);

const isLoopback = (hostname: string): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** Returns what a person should know before they open this address; null if there is nothing. */
export function addressWarning(address: string): string | null {
  const url = URL.parse(address);
  if (!url) return null;
  if (/(^|\.)xn--/.test(url.hostname))
    return "The host has letters of other alphabets, so it may only look like one that you know.";
  if (url.protocol === "http:" && !isLoopback(url.hostname))
    return "The connection is not encrypted: others can read what you enter there.";
  return null;
}
