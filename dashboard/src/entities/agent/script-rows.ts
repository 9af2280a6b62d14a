import { isJsonObject } from "../../lib/json-text.ts";
import { maxSchemaRows } from "../../lib/max-schema-rows.ts";

/** One scripted response of `test/script`. */
export interface ScriptEntry {
  text?: string;
  reasoning?: string;
  tool_calls?: ScriptCall[];
  error?: string;
  delay_ms?: number | string;
  delta_ms?: number | string;
}

export interface ScriptCall {
  name: string;
  /** A string while it is not valid JSON. */
  arguments: unknown;
}

const texts = ["text", "reasoning", "error"];
const times = ["delay_ms", "delta_ms"];

/** Returns the script's entries; null if the form cannot represent it. */
export function scriptEntries(script: unknown): ScriptEntry[] | null {
  return Array.isArray(script) && script.length <= maxSchemaRows && script.every(isEntry) ? script : null;
}

function isEntry(entry: unknown): entry is ScriptEntry {
  return (
    isJsonObject(entry) &&
    Object.entries(entry).every(([name, value]) => {
      if (texts.includes(name)) return typeof value === "string";
      if (times.includes(name)) return typeof value === "number" || typeof value === "string";
      return name === "tool_calls" && Array.isArray(value) && value.every(isCall);
    })
  );
}

function isCall(call: unknown): call is ScriptCall {
  if (!isJsonObject(call) || typeof call.name !== "string") return false;
  const { name: _, arguments: callArguments, ...more } = call;
  return (isJsonObject(callArguments) || typeof callArguments === "string") && Object.keys(more).length === 0;
}

/** Sets a field of an entry; empty values are removed. */
export function withField<Name extends keyof ScriptEntry>(
  entry: ScriptEntry,
  name: Name,
  value: ScriptEntry[Name],
): ScriptEntry {
  const { [name]: _, ...others } = entry;
  const isEmpty = value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
  return isEmpty ? others : { ...entry, [name]: value };
}
