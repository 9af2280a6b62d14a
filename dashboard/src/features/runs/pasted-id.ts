import { isId, siblingId } from "../../../../server/core/ids.ts";

/** What a text is, when it is the id of a thing that leads to runs: a run, or an agent or thread to filter by. */
export function pastedId(text: string): { kind: "run" | "agent" | "thread"; id: string } | null {
  const id = text.trim();
  const kind = (["run", "agent", "thread"] as const).find((kind) => isId(kind, id));
  if (kind) return { kind, id };
  return isId("trace", id) ? { kind: "run", id: siblingId(id, "run") } : null;
}
