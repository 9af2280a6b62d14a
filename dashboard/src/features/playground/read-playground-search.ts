import { given, readChoice, readForm, readText } from "../../lib/page-search.ts";

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
export const readPlaygroundSearch = (search: Record<string, unknown>): PlaygroundSearch =>
  given({
    agent: readForm(search.agent, /^(agt_\w+|new)$/),
    compare: readText(search.compare, 300),
    thread: readForm(search.thread, /^thr_\w+$/),
    other: readForm(search.other, /^thr_\w+$/),
    code: readChoice(search.code, ["on", "off"] as const),
    pane: readChoice(search.pane, ["agent"] as const),
  });
