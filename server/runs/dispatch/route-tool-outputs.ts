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
  const placed: Placed[] = [...answers.entries()];
  let unmatched = placed.filter(([, answer]) => !knows(root, answer));
  const others: Owner[] = [];
  if (unmatched.length > 0)
    for (const state of descendants()) {
      const its = unmatched.filter(([, answer]) => knows(state, answer));
      if (its.length > 0) others.push(owner(state, its));
      unmatched = unmatched.filter((each) => !its.includes(each));
      if (unmatched.length === 0) break;
    }
  const theirs = new Set(others.flatMap(({ places }) => places));
  const its = placed.filter(([place]) => !theirs.has(place));
  return its.length > 0 ? [owner(root, its), ...others] : others;
}

const knows = ({ calls }: RunState, { tool_call_id }: ToolAnswer): boolean =>
  calls.some(({ id }) => id === tool_call_id);

const owner = (state: RunState, its: readonly Placed[]): Owner => ({
  state,
  own: its.map(([, answer]) => answer),
  places: its.map(([place]) => place),
});
