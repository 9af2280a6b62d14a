import { labelPattern } from "../../../../server/domain/agent-label.ts";
import { omitUndefined, readChoice, readForm, readText } from "../../lib/page-search.ts";

const versionOrLabel = new RegExp(`^[1-9]\\d{0,14}$|${labelPattern}`);

/** Search parameters of the playground. */
export interface PlaygroundSearch {
  /** Agent id; `new` to create one. Absent: the newest. */
  agent?: string;
  /** Version or label of the agent, as in `3` or `production`. Absent: the newest, which can be edited. */
  choice?: string;
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
    choice: readForm(search.choice === undefined ? undefined : String(search.choice), versionOrLabel),
    compare: readText(search.compare, 300),
    thread: readForm(search.thread, /^thr_\w+$/),
    other: readForm(search.other, /^thr_\w+$/),
    code: readChoice(search.code, ["on", "off"] as const),
    pane: readChoice(search.pane, ["agent"] as const),
  });

/** Returns the change to another agent, without what belongs to the last one. */
export const withAgent = (agent: string | undefined): Partial<PlaygroundSearch> => ({
  agent,
  choice: undefined,
  thread: undefined,
  other: undefined,
  compare: undefined,
});
