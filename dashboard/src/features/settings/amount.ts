/** Value of a setting: a number, 0 for no limit, or null for the default. */
export type Value = number | null;

/** A setting's form state. */
export interface Amount {
  choice: "unset" | "off" | "own";
  text: string;
}

/** Converts a value to form state; `usual` is the default number, if any. */
export function toAmount(value: Value, usual: number | null): Amount {
  if (value === null) return { choice: "unset", text: usual === null ? "" : String(usual) };
  return value === 0 ? { choice: "off", text: "" } : { choice: "own", text: String(value) };
}

/** Parses form state; undefined if invalid. The server checks the range. */
export function toValue({ choice, text }: Amount, fraction = false): Value | undefined {
  if (choice === "unset") return null;
  if (choice === "off") return 0;
  const form = fraction ? /^-?\d{1,15}(\.\d{1,6})?$/ : /^-?\d{1,15}$/;
  return form.test(text.trim()) ? Number(text.trim()) : undefined;
}

/** Returns only the values that differ from the saved ones, so that other people's changes are not undone. */
export function changedValues(
  saved: Record<string, Value>,
  edited: Record<string, Amount>,
  mayBeFraction: (name: string) => boolean = () => false,
): Record<string, Value | undefined> {
  const values = Object.entries(edited).map(([name, amount]) => [name, toValue(amount, mayBeFraction(name))] as const);
  return Object.fromEntries(values.filter(([name, value]) => value !== saved[name]));
}

/** Nests dotted names: `{ "live.runs_days": 30 }` becomes `{ live: { runs_days: 30 } }`. */
export function nestDottedNames(values: Record<string, Value>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [name = "", ...rest] = path.split(".");
    result[name] =
      rest.length > 0 ? { ...(result[name] as object), ...nestDottedNames({ [rest.join(".")]: value }) } : value;
  }
  return result;
}
