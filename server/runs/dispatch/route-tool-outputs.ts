import type { RunState } from "../../domain/run-state.ts";
import type { ToolAnswer } from "../../domain/submit.ts";

/** The answers to one run's calls, and their indexes in the request. */
interface Owner {
  state: RunState;
  own: ToolAnswer[];
  places: number[];
}

type Placed = [place: number, answer: ToolAnswer];

/**
 * Routes tool outputs to the run (or descendant) that made each call; reads descendants only while a call id is
 * unmatched. Unknown call ids stay with the addressed run.
 */
export function routeToolOutputs(
  root: RunState,
  answers: readonly ToolAnswer[],
  descendants: () => Iterable<RunState>,
): Owner[] {
  const entries: Placed[] = [...answers.entries()];
  let unmatched = entries.filter(([, answer]) => !hasCall(root, answer));
  const others: Owner[] = [];
  if (unmatched.length > 0)
    for (const state of descendants()) {
      const matched = unmatched.filter(([, answer]) => hasCall(state, answer));
      if (matched.length > 0) others.push(owner(state, matched));
      unmatched = unmatched.filter((each) => !matched.includes(each));
      if (unmatched.length === 0) break;
    }
  const matchedPlaces = new Set(others.flatMap(({ places }) => places));
  const rootEntries = entries.filter(([place]) => !matchedPlaces.has(place));
  return rootEntries.length > 0 ? [owner(root, rootEntries), ...others] : others;
}

const hasCall = ({ calls }: RunState, { tool_call_id }: ToolAnswer): boolean =>
  calls.some(({ id }) => id === tool_call_id);

const owner = (state: RunState, its: readonly Placed[]): Owner => ({
  state,
  own: its.map(([, answer]) => answer),
  places: its.map(([place]) => place),
});
