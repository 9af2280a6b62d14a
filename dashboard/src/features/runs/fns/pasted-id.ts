/** What a text is, when it is the id of a thing that leads to runs: a run, or an agent or thread to filter by. */
export function pastedId(text: string): { kind: "run" | "agent" | "thread"; id: string } | null {
  const [, prefix, rest] = /^\s*(run|trc|agt|thr)_([0-9a-hjkmnp-tv-z]{26})\s*$/.exec(text) ?? [];
  if (!prefix || !rest) return null;
  // A trace has its run's id, but for the prefix.
  if (prefix === "run" || prefix === "trc") return { kind: "run", id: `run_${rest}` };
  return prefix === "agt" ? { kind: "agent", id: `agt_${rest}` } : { kind: "thread", id: `thr_${rest}` };
}
