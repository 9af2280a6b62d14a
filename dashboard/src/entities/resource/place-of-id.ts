import { isId, type Kind, siblingId } from "../../../../server/core/ids.ts";

/** Where the thing with an id is shown. */
interface Place {
  /** “Run”. */
  noun: string;
  /** Below `/dashboard`. */
  path: string;
}

/** The page of a thing, when the text is the id of one; null for any other text. */
export function placeOfId(text: string): Place | null {
  const id = text.trim();
  if (isId("trace", id)) return { noun: "Trace", path: `/runs/${siblingId(id, "run")}` };
  const place = places.find(([kind]) => isId(kind, id));
  return place ? { noun: place[1], path: place[2] + id } : null;
}

/** What is shown with the run that it belongs to, when the text is the id of that; null for any other text. */
export function partOfRun(text: string): { id: string; noun: "request" | "tool call" } | null {
  const id = text.trim();
  if (isId("request", id)) return { id, noun: "request" };
  return isId("tool_call", id) ? { id, noun: "tool call" } : null;
}

const places: readonly [kind: Kind, noun: string, path: string][] = [
  ["run", "Run", "/runs/"],
  ["agent", "Agent", "/agents/"],
  ["thread", "Thread", "/threads/"],
  ["tool", "Tool", "/tools/"],
  ["memory", "Memory store", "/memory/"],
  ["webhook", "Webhook", "/webhooks/"],
  ["api_key", "API key", "/keys?q="],
  ["file", "File", "/files?file="],
  ["schedule", "Schedule", "/schedules/"],
  ["suite", "Suite", "/suites/"],
];
