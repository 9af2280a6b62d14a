import { capsuleLimits } from "../../domain/capsule-format.ts";
import { lastItem } from "../../lib/collections.ts";
import type { Packet } from "./packet.ts";

/** Content read from a capsule. None of it is verified: the JSON is not even parsed. */
export interface CapsuleContent {
  /** By hash, as the capsule names them. */
  agents: ReadonlyMap<string, string>;
  runs: CapsuleRun[];
}

interface CapsuleRun {
  run_id: string;
  parent_run_id: string | null;
  agent_hash: string;
  entries: { seq: number; at: number; event: string }[];
}

const messageMax = 500;

/**
 * Collects the answer of a child. It is untrusted: a hostile capsule may have taken over the child through the
 * database's parser.
 */
export function openCapsuleAnswer() {
  const agents = new Map<string, string>();
  const runs: CapsuleRun[] = [];
  let [entries, size] = [0, 0];
  let end: { error: string | null } | null = null;

  const checkSize = (text: string): string => {
    size += Buffer.byteLength(text);
    if (size > capsuleLimits.record_bytes) throw new Error("The rows are too many.");
    return text;
  };
  function take(row: unknown): void {
    const [kind, ...values]: unknown[] = Array.isArray(row) ? row : [];
    if (kind === "agent") agents.set(name(values[0]), checkSize(text(values[1])));
    else if (kind === "run")
      runs.push({
        run_id: name(values[0]),
        parent_run_id: values[1] === null ? null : name(values[1]),
        agent_hash: name(values[2]),
        entries: [],
      });
    else if (kind === "entry" && runs.length > 0) {
      entries++;
      lastItem(runs).entries.push({ seq: count(values[0]), at: count(values[1]), event: checkSize(text(values[2])) });
    } else if (kind === "more") {
      const last = runs.at(-1)?.entries.at(-1);
      if (!last) throw new Error("A row goes on with nothing.");
      last.event += checkSize(text(values[0]));
    } else throw new Error("A row is none of a capsule.");
    const { runs: mostRuns, agents: mostAgents, entries: mostEntries } = capsuleLimits;
    if (runs.length > mostRuns || agents.size > mostAgents || entries > mostEntries)
      throw new Error("The rows are too many.");
  }

  return {
    /** Throws if the packet is not valid at this point. */
    hear({ kind, payload }: Packet): void {
      if (end !== null) throw new Error(`${kind} is out of turn.`);
      const message: unknown = JSON.parse(new TextDecoder().decode(payload) || "null");
      if (kind === "rows" && Array.isArray(message)) message.forEach(take);
      else if (kind === "ended") end = readEnd(Object(message));
      else throw new Error(`${kind} is none of a capsule's.`);
    },
    isWhole: (): boolean => end !== null,
    /** Returns null if the child has not answered. */
    said: (): { content: CapsuleContent } | { error: string } | null =>
      end && (end.error === null ? { content: { agents, runs } } : { error: end.error }),
  };
}

function readEnd({ error }: Record<string, unknown>): { error: string | null } {
  if (error !== null && typeof error !== "string") throw new Error("The child's error is none.");
  return { error: error === null ? null : error.slice(0, messageMax) };
}

function text(value: unknown): string {
  if (typeof value !== "string") throw new Error("A row has no text.");
  return value;
}

function name(value: unknown): string {
  const nameText = text(value);
  if (nameText.length > 200) throw new Error("A name is too long.");
  return nameText;
}

function count(value: unknown): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw new Error("A row has no number.");
  return value;
}
