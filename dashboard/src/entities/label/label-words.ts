import {
  inOrder,
  type LabelReason,
  type LabelShare,
  newerVersion,
  type RollbackRule,
} from "../../../../server/domain/agent-label.ts";
import type { AgentLabel, AgentLabelReport } from "../../../../server/domain/api-types/label.ts";
import { formatCount, plural } from "../../lib/format.ts";

type Held = Pick<AgentLabel, "version" | "split">;

/** Reasons why a label holds its versions, as people read them. */
export const reasonWords: Record<LabelReason, string> = {
  set: "Set",
  rollback: "Rolled back",
  automatic_rollback: "Rolled back automatically",
};

/** Returns the versions that a label holds, the newer one first. */
export const sharesOf = ({ version, split }: Held): LabelShare[] =>
  inOrder(split ?? (version === null ? [] : [{ version, percent: 100 }]));

/** Formats `10%`, `12.5%`. */
export const formatPercent = (percent: number): string => `${Number(percent.toFixed(2))}%`;

/** Formats `version 3`, or `version 4 for 10%, version 3 for 90%`. */
export function holdsWords(held: Held): string {
  const shares = sharesOf(held);
  return shares.length === 1
    ? `version ${shares[0]!.version}`
    : shares.map(({ version, percent }) => `version ${version} for ${formatPercent(percent)}`).join(", ");
}

/** Formats `v3`, or `v4 10% · v3 90%`. */
export function holdsBriefly(held: Held): string {
  const shares = sharesOf(held);
  return shares.length === 1
    ? `v${shares[0]!.version}`
    : shares.map(({ version, percent }) => `v${version} ${formatPercent(percent)}`).join(" · ");
}

/** Says when the server rolls a label back by itself. */
export function ruleWords(rule: RollbackRule, held: Held): string {
  const version = newerVersion(sharesOf(held));
  const bounds = [
    rule.failure_rate !== undefined &&
      `${formatPercent(rule.failure_rate * 100)} or more of the runs of version ${version} fail`,
    rule.score && `the mean of ${rule.score.name} is below ${rule.score.below}`,
  ].filter(Boolean);
  const runs = plural(rule.min_runs, "run");
  const counted = rule.failure_rate === undefined ? `${runs} with this score` : `${runs} that ended`;
  return `If ${bounds.join(", or ")}. Counts from ${counted}.`;
}

/** Returns the name by which requests use a label; its id in place of a name with an `@`, which would be ambiguous. */
export const labelReference = (agent: { id: string; name: string }, label: string): string =>
  `${agent.name.includes("@") ? agent.id : agent.name}@${label}`;

/** Numbers of a version by which a rule is judged. */
type Judged = Pick<AgentLabelReport["versions"][number], "completed" | "failed" | "scores">;

/** Says how many runs a rule has judged, and what it still waits for. */
export function progressWords({ failure_rate, score, min_runs }: RollbackRule, judged: Judged): string {
  const ended = judged.completed + judged.failed;
  const scored = judged.scores.find(({ name }) => name === score?.name)?.count ?? 0;
  const of = (count: number, what: string) =>
    count >= min_runs ? `${plural(count, what)}: it counts.` : `${formatCount(count)} of ${plural(min_runs, what)}.`;
  return [failure_rate !== undefined && `Ended: ${of(ended, "run")}`, score && `Scored: ${of(scored, "run")}`]
    .filter(Boolean)
    .join(" ");
}
