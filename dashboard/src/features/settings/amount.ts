/** What a setting holds: a number, 0 for no limit, or null for what goes without saying (the default, for ever). */
export type Value = number | null;

/** A setting as it stands in the form, while it is being edited. */
export interface Amount {
  choice: "unset" | "off" | "own";
  text: string;
}

/** How a value stands in the form; `usual` is the number that null stands for, if it stands for one. */
export function toAmount(value: Value, usual: number | null): Amount {
  if (value === null) return { choice: "unset", text: usual === null ? "" : String(usual) };
  return value === 0 ? { choice: "off", text: "" } : { choice: "own", text: String(value) };
}

/** What was typed, as a value; undefined where it is none. How large it may be is for the server to say. */
export function toValue({ choice, text }: Amount, fraction = false): Value | undefined {
  if (choice === "unset") return null;
  if (choice === "off") return 0;
  const form = fraction ? /^-?\d{1,15}(\.\d{1,6})?$/ : /^-?\d{1,15}$/;
  return form.test(text.trim()) ? Number(text.trim()) : undefined;
}

/** The edited settings that differ from what is saved: those are all that is sent, so that nobody's change is undone. */
export function changedValues(
  saved: Record<string, Value>,
  edited: Record<string, Amount>,
  mayBeFraction: (name: string) => boolean = () => false,
): Record<string, Value | undefined> {
  const values = Object.entries(edited).map(([name, amount]) => [name, toValue(amount, mayBeFraction(name))] as const);
  return Object.fromEntries(values.filter(([name, value]) => value !== saved[name]));
}

/** `{ "live.runs_days": 30 }` as `{ live: { runs_days: 30 } }`. */
export function nested(values: Record<string, Value>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [name = "", ...rest] = path.split(".");
    result[name] = rest.length > 0 ? { ...(result[name] as object), ...nested({ [rest.join(".")]: value }) } : value;
  }
  return result;
}
