import { entryOf } from "./collections.ts";
import { isExactNumber } from "./exact-numbers.ts";

/** A placeholder in a URL's path or query, as in `https://api.example.com/orders/{id}?view={view}`. */
const placeholder = /\{([A-Za-z_][\w-]{0,63})\}/g;

/** Returns the distinct placeholder names. */
export const namesIn = (url: string): string[] => [
  ...new Set([...url.matchAll(placeholder)].flatMap(([, name]) => name ?? [])),
];

/** Returns the fault of a template, or null if it is valid or has no placeholders. */
export function templateFault(url: string): string | null {
  if (!/[{}]/.test(url)) return null;
  if (/[{}]/.test(url.replace(placeholder, "")))
    return "An argument is named in braces, as {name}: letters, digits, _ and -. Other braces are written %7B and %7D.";
  // Arguments must not choose the host, and a fragment is not sent.
  const [, host = url, , fragment = ""] = /^([a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*)([^#]*)(#.*)?$/is.exec(url) ?? [];
  if (/[{}]/.test(host)) return "Arguments fill the path and the query: scheme, host and port are written out.";
  return /[{}]/.test(fragment) ? "Arguments fill the path and the query: what is behind # is not sent." : null;
}

type Filled = { url: string; rest: Record<string, unknown> } | { fault: string };

/**
 * Returns the URL with encoded arguments, and the arguments that it does not use. `write` encodes an argument that may
 * be a list or an object; it returns undefined for any other, and null if there is nothing to write.
 */
export function fillTemplate(
  template: string,
  args: Readonly<Record<string, unknown>>,
  write: (name: string, value: unknown) => string | null | undefined = () => undefined,
): Filled {
  const names = namesIn(template);
  const values = new Map<string, string>();
  for (const name of names) {
    const value = Object.hasOwn(args, name) ? args[name] : undefined;
    if (value === undefined || value === null || value === "")
      return { fault: `The tool's URL needs the argument ${name}.` };
    const written = write(name, value);
    if (written === null) return { fault: `The tool's URL needs the argument ${name}, which is empty.` };
    if (written !== undefined) {
      values.set(name, written);
      continue;
    }
    if (!isExactNumber(value) && !["string", "number", "boolean"].includes(typeof value))
      return { fault: `The argument ${name} stands in the tool's URL: a text, a number or a boolean.` };
    const text = isExactNumber(value) ? value.rawJSON : String(value);
    values.set(name, encodeURIComponent(text.toWellFormed()));
  }
  const url = template.replace(placeholder, (_, name: string) => entryOf(values, name));
  // An argument `..` would lead to another path than the tool was made for.
  if (names.length > 0 && dotsIn(url) !== dotsIn(template))
    return { fault: "An argument in the path of the tool's URL may not be . or .." };
  return { url, rest: Object.fromEntries(Object.entries(args).filter(([name]) => !values.has(name))) };
}

const dotsIn = (url: string): number =>
  url
    .split(/[?#]/, 1)[0]!
    .split(/[/\\]/)
    .filter((segment) => /^(\.|%2e){1,2}$/i.test(segment)).length;
