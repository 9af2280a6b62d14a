// Labels of agents: names of versions. Pure, because the dashboard computes with them too.

/** A version that a label holds, and which part of the runs gets it. */
export interface LabelShare {
  version: number;
  /** From 0 to 100, in hundredths at the finest. */
  percent: number;
}

/** When the server rolls a label back by itself. */
export interface RollbackRule {
  /** From this share of failed runs on. */
  failure_rate?: number | undefined;
  /** Below this mean of a score. */
  score?: { name: string; below: number } | undefined;
  /** Runs that must have ended (or been scored) before the rule counts. */
  min_runs: number;
}

/** Reasons why a label was moved. */
export const labelReasons = ["set", "rollback", "automatic_rollback"] as const;
export type LabelReason = (typeof labelReasons)[number];

/** Bounds of a rule that can be reached. */
export const rollbackCauses = ["failure_rate", "score"] as const;
type RollbackCause = (typeof rollbackCauses)[number];

/** A run's choice of a version: a fixed one, that of a label, or with neither the newest. */
export interface AgentChoice {
  agent_id: string;
  version: number | null;
  label: string | null;
}

/** Pattern of label names. Only digits would look like a version. */
export const labelPattern = "^[0-9]*[a-z_-][a-z0-9_-]*$";

const isLabel = new RegExp(labelPattern);

/** Returns whether a text may be the name of a label. */
export const isLabelName = (text: string): boolean => text.length <= 64 && isLabel.test(text);

const isVersion = /^[1-9]\d{0,14}$/;

/** A text that names an agent, and behind its last `@` a label or a version. */
interface NamedAgent {
  name: string;
  version?: number;
  label?: string;
}

/** Returns the parts of `refund-desk@production` or `refund-desk@3`; null if what follows the `@` is neither. */
export function readAgentName(text: string): NamedAgent | null {
  const at = text.lastIndexOf("@");
  if (at < 0) return { name: text };
  const [name, end] = [text.slice(0, at), text.slice(at + 1)];
  if (isVersion.test(end)) return { name, version: Number(end) };
  return isLabelName(end) ? { name, label: end } : null;
}

/** Number of parts into which keys fall: percents are exact to a hundredth. */
export const bucketCount = 10_000;

const partsOf = (percent: number): number => Math.round(percent * (bucketCount / 100));

/** Returns whether a percent has at most two decimals. */
export const isExactPercent = (percent: number): boolean => Math.abs(percent * 100 - partsOf(percent)) < 1e-6;

/** Returns the percents together, without the errors of binary fractions. */
export const percentsTogether = (shares: readonly LabelShare[]): number =>
  shares.reduce((sum, { percent }) => sum + partsOf(percent), 0) / 100;

/** Returns the shares with the newest version first, which is the order in which versions get their keys. */
export const inOrder = (shares: readonly LabelShare[]): LabelShare[] =>
  shares.toSorted((a, b) => b.version - a.version);

/**
 * Returns the version for a bucket from 0. The newer version gets the first ones, so that a key which has it keeps it
 * while its percent grows.
 */
export function versionAt(shares: readonly LabelShare[], bucket: number): number {
  const [first, second] = inOrder(shares);
  if (!first) throw new Error("A label holds a version.");
  return second && bucket >= partsOf(first.percent) ? second.version : first.version;
}

/** Returns the version whose runs an automatic rollback watches. */
export const newerVersion = (shares: readonly LabelShare[]): number =>
  Math.max(...shares.map(({ version }) => version));

/** Returns whether two labels hold the same versions, whatever their percents are. */
export const holdSameVersions = (a: readonly LabelShare[], b: readonly LabelShare[]): boolean =>
  inOrder(a)
    .map(({ version }) => version)
    .join() ===
  inOrder(b)
    .map(({ version }) => version)
    .join();

/** Facts about the ended runs of a version. */
interface VersionRecord {
  ended: number;
  failed: number;
  scored: number;
  /** Null if none was scored. */
  score: number | null;
}

/** Returns which bound of a rule is reached, or null if none is. */
export function rollbackCause(
  { failure_rate, score, min_runs }: RollbackRule,
  record: VersionRecord,
): RollbackCause | null {
  const { ended, failed, scored } = record;
  if (failure_rate !== undefined && ended >= min_runs && failed / ended >= failure_rate) return "failure_rate";
  if (score && scored >= min_runs && record.score !== null && record.score < score.below) return "score";
  return null;
}
