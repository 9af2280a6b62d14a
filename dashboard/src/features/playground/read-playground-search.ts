import { omitUndefined, readChoice, readForm, readText } from "../../lib/page-search.ts";

/** Search parameters of the playground. */
export interface PlaygroundSearch {
  /** Agent id; `new` to create one. Absent: the newest. */
  agent?: string;
  /** Model of the right side in a comparison. */
  compare?: string;
  /** Threads of the conversation and of the right side. */
  thread?: string;
  other?: string;
  /** Shows the code. Absent: if there is room. */
  code?: "on" | "off";
  /** The visible pane on a phone. */
  pane?: "agent";
}

/** Parses the search parameters; invalid values are omitted. */
export const readPlaygroundSearch = (search: Record<string, unknown>): PlaygroundSearch =>
  omitUndefined({
    agent: readForm(search.agent, /^(agt_\w+|new)$/),
    compare: readText(search.compare, 300),
    thread: readForm(search.thread, /^thr_\w+$/),
    other: readForm(search.other, /^thr_\w+$/),
    code: readChoice(search.code, ["on", "off"] as const),
    pane: readChoice(search.pane, ["agent"] as const),
  });
