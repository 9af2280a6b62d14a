/** Where the thing with an id is shown. */
export interface Place {
  /** “Run”. */
  noun: string;
  /** Below `/dashboard`. */
  path: string;
}

/** The page of a thing, when the text is the id of one; null for any other text. */
export function placeOfId(text: string): Place | null {
  const [, prefix, rest] = /^\s*([a-z]+)_([0-9a-hjkmnp-tv-z]{26})\s*$/.exec(text) ?? [];
  if (!prefix || !rest) return null;
  const place = places[prefix];
  return place ? { noun: place[0], path: place[1].replace("$", `${prefix}_${rest}`).replace("%", rest) } : null;
}

/** What is shown with the run that it belongs to, when the text is the id of that; null for any other text. */
export function partOfRun(text: string): { id: string; noun: "request" | "tool call" } | null {
  const [, id, prefix] = /^\s*((req|call)_[0-9a-hjkmnp-tv-z]{26})\s*$/.exec(text) ?? [];
  return id ? { id, noun: prefix === "req" ? "request" : "tool call" } : null;
}

/** `$` stands for the id, `%` for what follows its prefix. */
const places: Record<string, [noun: string, path: string]> = {
  run: ["Run", "/runs/$"],
  // A trace has its run's id, but for the prefix.
  trc: ["Trace", "/runs/run_%"],
  agt: ["Agent", "/agents/$"],
  thr: ["Thread", "/threads/$"],
  tool: ["Tool", "/tools/$"],
  mem: ["Memory store", "/memory/$"],
  whk: ["Webhook", "/webhooks/$"],
  key: ["API key", "/keys?q=$"],
  file: ["File", "/files?file=$"],
  sch: ["Schedule", "/schedules/$"],
  sui: ["Suite", "/suites/$"],
};
