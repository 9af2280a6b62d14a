import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { DiffStep as StepPair } from "../../../../server/domain/api-types/trace.ts";
import type { Side } from "../../entities/run/diff-api.ts";

/** Marks the step at which one of the runs was forked or replayed from the other. */
export interface OriginLine {
  /** Index of the pair that it stands before. */
  before: number;
  text: string;
  /** Run and step to fork again; null if not applicable. */
  again: { runId: string; step: number } | null;
}

type Compared = Pick<Run, "id" | "model" | "input" | "agent_version" | "forked_from" | "replay_of">;

/** Returns the origin line of two runs; null if they are unrelated or its step is not loaded yet. */
export function originLine(a: Compared, b: Compared, pairs: readonly StepPair[]): OriginLine | null {
  if (b.replay_of === a.id) return replayLine("B", "A");
  if (a.replay_of === b.id) return replayLine("A", "B");
  if (b.forked_from?.run_id === a.id) return forkLine(a, b, "a", b.forked_from.step_index, pairs);
  if (a.forked_from?.run_id === b.id) return forkLine(b, a, "b", a.forked_from.step_index, pairs);
  return null;
}

const replayLine = (of: string, source: string): OriginLine => ({
  before: 0,
  text: `${of} is a replay of ${source}: it made no calls and cost nothing.`,
  again: null,
});

function forkLine(source: Compared, fork: Compared, side: Side, step: number, pairs: readonly StepPair[]) {
  const at = pairs.find((pair) => pair[`${side}_step_index`] === step);
  if (step >= 0 && !at) return null;
  const isEdited = at?.change === "changed";
  const changes = [...(isEdited ? [editOf(at)] : []), ...edits(source, fork)];
  const name = side === "a" ? "B" : "A";
  const place = step < 0 ? "from the start" : isEdited ? `here, at step ${step}` : `here, after step ${step}`;
  return {
    before: !at ? 0 : isEdited ? at.index : at.index + 1,
    text: `${name} was forked ${place}${changes.length > 0 ? `: ${joinWords(changes)}` : ""}`,
    again: { runId: source.id, step },
  };
}

const editOf = ({ type, name }: StepPair): string =>
  type === "model_call" ? "a different model output" : `a different output of ${name}`;

function edits(source: Compared, fork: Compared): string[] {
  return [
    ...(fork.input !== source.input ? ["a different input"] : []),
    ...(fork.model !== source.model ? [`${fork.model} instead of ${source.model}`] : []),
    ...(fork.agent_version !== source.agent_version ? [`version ${fork.agent_version} of the agent`] : []),
  ];
}

const joinWords = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
