import { readChoice, readText } from "../../lib/page-search.ts";

/** What of the playground lies in its address. */
export interface PlaygroundSearch {
  /** The agent; `new` to make one. Absent: the newest. */
  agent?: string;
  /** The model of the right side, when two are compared. */
  compare?: string;
  /** The thread of the conversation, and that of the right side. */
  thread?: string;
  other?: string;
  /** Whether the code is shown. Absent: where there is room. */
  code?: "on" | "off";
  /** Phone only: which of the two is shown. */
  pane?: "agent";
}

/** Reads it from an address; what is none is left out. */
export function readPlaygroundSearch(search: Record<string, unknown>): PlaygroundSearch {
  const id = (value: unknown, pattern: RegExp) =>
    typeof value === "string" && pattern.test(value) ? value : undefined;
  const read = {
    agent: id(search.agent, /^(agt_\w{1,64}|new)$/),
    compare: readText(search.compare, 300),
    thread: id(search.thread, /^thr_\w{1,64}$/),
    other: id(search.other, /^thr_\w{1,64}$/),
    code: readChoice(search.code, ["on", "off"] as const),
    pane: readChoice(search.pane, ["agent"] as const),
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}
