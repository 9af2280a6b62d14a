import { isId, type Kind, siblingId } from "../../../../server/domain/ids.ts";

/** Page that shows an object. */
interface ObjectPageLink {
  /** Label: “Run”. */
  noun: string;
  /** Path below `/dashboard`. */
  path: string;
}

/** Returns the page of the object if the text is its id, otherwise null. */
export function pageOfId(text: string): ObjectPageLink | null {
  const id = text.trim();
  if (isId("trace", id)) return { noun: "Trace", path: `/runs/${siblingId(id, "run")}` };
  const place = places.find(([kind]) => isId(kind, id));
  return place ? { noun: place[1], path: place[2] + id } : null;
}

/** Returns the id of a request or a tool call, which the page of its run shows; null for other text. */
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
  ["oauth_client", "OAuth client", "/oauth_clients/"],
  ["api_key", "API key", "/keys?q="],
  ["file", "File", "/files?file="],
  ["schedule", "Schedule", "/schedules/"],
  ["trigger", "Trigger", "/triggers/"],
  ["suite", "Suite", "/suites/"],
];
