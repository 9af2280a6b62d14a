import type { RunState } from "../core/run-state.ts";
import type { ToolAnswer } from "../core/submit.ts";

/** The answers to one run's calls, and their places in the request. */
interface Owner {
  state: RunState;
  own: ToolAnswer[];
  places: number[];
}

type Placed = [place: number, answer: ToolAnswer];

/**
 * Whose calls these answers are about: the run's own, or those of a run below it, which are looked at only as long as
 * there is an answer that nobody's call fits. What nobody knows stays with the run that was asked.
 */
export function ownersOf(root: RunState, answers: readonly ToolAnswer[], below: () => Iterable<RunState>): Owner[] {
  const placed: Placed[] = [...answers.entries()];
  let strange = placed.filter(([, answer]) => !knows(root, answer));
  const others: Owner[] = [];
  if (strange.length > 0)
    for (const state of below()) {
      const its = strange.filter(([, answer]) => knows(state, answer));
      if (its.length > 0) others.push(owner(state, its));
      strange = strange.filter((each) => !its.includes(each));
      if (strange.length === 0) break;
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
