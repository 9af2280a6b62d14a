import { limits } from "../../domain/limits.ts";
import { truncateMiddle } from "../../domain/truncate-middle.ts";
import { type EventPath, parseEventPath, type TriggerEvent, textOfValue, valueAt } from "./event-path.ts";

/** A template in parts: texts, and places of values with the text that names them. */
type Part = string | { path: EventPath; name: string };

// Longer values are shortened in their middle, so that one value does not use up the whole input.
const maxValue_bytes = 64 * 1024;

/** Returns the parts of a template, or the text in braces that names nothing. */
export function parseTemplate(template: string): { parts: Part[] } | { wrong: string } {
  const parts: Part[] = [];
  let end = 0;
  for (let start = template.indexOf("{{"); start >= 0; start = template.indexOf("{{", end)) {
    const close = template.indexOf("}}", start);
    if (close < 0) return { wrong: template.slice(start, start + 40) };
    const name = template.slice(start + 2, close).trim();
    const path = parseEventPath(name);
    if (!path) return { wrong: template.slice(start, Math.min(close + 2, start + 100)) };
    parts.push(template.slice(end, start), { path, name });
    end = close + 2;
  }
  parts.push(template.slice(end));
  return { parts: parts.filter((part) => part !== "") };
}

/** Returns the text of a template with the values of an event. Values are data: braces in them mean nothing. */
export function renderTemplate(template: string, event: TriggerEvent): { text: string; missing: string[] } {
  const parsed = parseTemplate(template);
  if ("wrong" in parsed) return { text: template, missing: [] }; // It was checked when it was stored.
  const missing: string[] = [];
  // A template may name the same value thousands of times.
  const known = new Map<string, string>();
  let text = "";
  for (const part of parsed.parts) {
    if (text.length > limits.input_bytes) break; // No run takes so long an input.
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = known.has(part.name) ? null : valueAt(event, part.path);
    if (value === undefined) missing.push(part.name);
    const shown = known.get(part.name) ?? truncateMiddle(textOfValue(value), maxValue_bytes);
    known.set(part.name, shown);
    text += shown;
  }
  return { text, missing };
}
