import { isObject, parsedJson } from "../../lib/json.ts";

interface Call {
  name: string;
  arguments: string;
}

/**
 * Mends a tool call that a model or its server wrote wrongly, if it can have only one meaning. Otherwise it is returned
 * as it is, and the model reads its fault. `names` are the tools of the request.
 */
export function mendCall(call: Call, names: readonly string[]): Call[] {
  return wrappedCalls(call, names) ?? [{ name: mendName(call.name, names), arguments: mendArguments(call.arguments) }];
}

// Longer names and arguments are refused in any case.
const [nameMax, argumentsMax] = [256, 65_536];

// Name that OpenAI's models make up for several calls at once.
const wrapper = "multi_tool_use.parallel";

/** Returns the calls in a wrapper; null if it is none, or one of its tools does not exist. */
function wrappedCalls({ name, arguments: args }: Call, names: readonly string[]): Call[] | null {
  if (!name.endsWith(wrapper) || names.includes(name)) return null;
  const value = parsedJson(args);
  const uses = isObject(value) && Array.isArray(value.tool_uses) ? value.tool_uses : [];
  const calls = uses.flatMap((use): Call[] => {
    const inner = mendName(isObject(use) ? String(use.recipient_name) : "", names);
    return names.includes(inner) ? [{ name: inner, arguments: JSON.stringify(use.parameters ?? {}) }] : [];
  });
  return calls.length > 0 && calls.length === uses.length ? calls : null;
}

/** Returns the tool that a name stands for: without channel tokens, name spaces, spaces, or in another case. */
function mendName(name: string, names: readonly string[]): string {
  if (names.includes(name) || name.length > nameMax) return name;
  const bare = name.replace(/<\|.*$/s, "").replace(/^[\s"'`]+|(?:\(\))?[\s"'`]*$/g, "");
  const short = bare.replace(/^(?:functions?|tools?|default_api)[.:/]/i, "").replace(/:\d+$/, "");
  for (const candidate of [bare, short]) {
    if (names.includes(candidate)) return candidate;
    const same = names.filter((one) => folded(one) === folded(candidate));
    if (same.length === 1) return same[0]!;
  }
  return name;
}

const folded = (name: string): string => name.toLowerCase().replaceAll("-", "_");

/** Returns arguments as one JSON object, if the text can only mean that; otherwise the text. */
function mendArguments(text: string): string {
  if (text.length > argumentsMax) return text;
  const value = parsedJson(text);
  if (isObject(value)) return text;
  if (value !== undefined) return mendValue(value) ?? text;
  const bare = text.trim();
  if (bare === "" || bare === "None" || bare === "undefined") return "{}";
  const fenced = bare.endsWith("```")
    ? bare
        .slice(0, -3)
        .replace(/^```\w*/, "")
        .trim()
    : "";
  if (isObject(parsedJson(fenced))) return fenced;
  return writtenTwice(bare) ?? mendSyntax(bare) ?? text;
}

/** Returns arguments that are JSON but no object: an empty value, or an object as a text. */
function mendValue(value: unknown): string | null {
  if (value === null || value === "" || (Array.isArray(value) && value.length === 0)) return "{}";
  if (typeof value !== "string") return null;
  return isObject(parsedJson(value)) ? value : null;
}

/** Returns the object of a text that has it twice, or after an empty one. */
function writtenTwice(text: string): string | null {
  const afterEmpty = /^\{\s*\}\s*(\{.*\})$/s.exec(text)?.[1];
  if (afterEmpty !== undefined && isObject(parsedJson(afterEmpty))) return afterEmpty;
  const half = text.slice(0, Math.floor(text.length / 2)).trim();
  const isTwice = half !== "" && text.slice(Math.ceil(text.length / 2)).trim() === half;
  return isTwice && isObject(parsedJson(half)) ? half : null;
}

const escapes: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Removes commas before a closing bracket, and escapes line breaks and tabs within texts. */
function mendSyntax(text: string): string | null {
  const mended = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|,\s*(?=[}\]])/gs, (found) =>
    found.startsWith(",") ? "" : found.replace(/[\n\r\t]/g, (character) => escapes[character]!),
  );
  return isObject(parsedJson(mended)) ? mended : null;
}
