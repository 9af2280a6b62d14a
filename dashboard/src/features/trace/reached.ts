/** How far a replay has come with something: it is still to come, it goes on, or all of it is there. */
export type Reached = "nothing" | "part" | "all";

/** How far a replay that stands at a time has come. Without one, and of what goes on now, all is there that there is. */
export function reached(replay: number | null, { start, end }: { start: number; end: number | null }): Reached {
  if (replay === null || end === null || replay >= end) return "all";
  return replay < start ? "nothing" : "part";
}
