import { isExactPercent, isLabelName, type LabelShare } from "../../../../server/domain/agent-label.ts";
import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import { limits } from "../../../../server/domain/limits.ts";
import type { PutLabel } from "../../../../server/resources/labels/schema.ts";
import { sharesOf } from "../../entities/label/label-words.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";

/** A label as the form holds it. Numbers are texts. */
export interface LabelDraft {
  name: string;
  holds: "one" | "split";
  version: string;
  /** Percent of this version, if the label splits; the other version gets the rest. */
  percent: string;
  other: string;
  rollsBack: boolean;
  failurePercent: string;
  scoreName: string;
  scoreBelow: string;
  minRuns: string;
}

type Rule = AgentLabel["rollback_on"];

/** Returns the fields of a rule for automatic rollback. */
export function ruleDraftOf(rule: Rule) {
  const rate = rule?.failure_rate;
  return {
    rollsBack: rule !== null,
    failurePercent: rate === undefined ? (rule ? "" : "20") : String(Number((rate * 100).toPrecision(12))),
    scoreName: rule?.score?.name ?? "",
    scoreBelow: rule?.score ? String(rule.score.below) : "",
    minRuns: String(rule?.min_runs ?? 20),
  };
}

/** Returns the fields of what a label holds. A split begins with a tenth of the runs. */
export function sharesDraftOf(shares: readonly LabelShare[], newest: number) {
  const [first, second] = shares;
  const version = first?.version ?? newest;
  return {
    holds: second ? ("split" as const) : ("one" as const),
    version: String(version),
    percent: second ? String(first!.percent) : "10",
    other: String(second?.version ?? (version === newest ? Math.max(newest - 1, 1) : newest)),
  };
}

/** Returns the form's first values: those of the label, or of a new one that holds the newest version. */
export const labelDraftOf = (label: AgentLabel | null, newest: number): LabelDraft => ({
  name: label?.name ?? "",
  ...sharesDraftOf(label ? sharesOf(label) : [], newest),
  ...ruleDraftOf(label?.rollback_on ?? null),
});

/** Returns the percent that the other version gets, or null if the first one's is no percent. */
export function otherPercent({ percent }: Pick<LabelDraft, "percent">): number | null {
  const value = readNumber(percent);
  if (value === null || value < 0 || value > 100 || !isExactPercent(value)) return null;
  return Number((100 - value).toFixed(2));
}

/** Returns the errors of a draft by field. */
export function labelFaults(draft: LabelDraft): FieldErrors<LabelDraft> {
  const name = draft.name.trim();
  return {
    ...(name === "" && { name: "Enter a name." }),
    ...(name !== "" &&
      !isLabelName(name) && {
        name: `Up to ${limits.label_length} lower-case letters, digits, - and _, and not digits alone.`,
      }),
    ...(draft.holds === "split" && splitFaults(draft)),
    ...(draft.rollsBack && ruleFaults(draft)),
  };
}

const splitFaults = (draft: LabelDraft): FieldErrors<LabelDraft> => ({
  ...(otherPercent(draft) === null && { percent: "From 0 to 100, with two decimals at most." }),
  ...(draft.version === draft.other && { other: "Choose another version." }),
});

function ruleFaults({ failurePercent, scoreName, scoreBelow, minRuns }: LabelDraft): FieldErrors<LabelDraft> {
  const rate = readNumber(failurePercent);
  const hasRate = failurePercent.trim() !== "";
  const hasScore = scoreName.trim() !== "" || scoreBelow.trim() !== "";
  return {
    ...(!hasRate && !hasScore && { failurePercent: "Enter a share of failed runs, or a score." }),
    ...(hasRate && (rate === null || rate <= 0 || rate > 100) && { failurePercent: "Above 0, up to 100." }),
    ...(hasScore && scoreName.trim() === "" && { scoreName: "Enter the name of the score." }),
    ...(hasScore && readNumber(scoreBelow) === null && { scoreBelow: "Enter a number." }),
    ...(!/^[1-9]\d{0,3}$/.test(minRuns.trim()) || Number(minRuns) > 1000
      ? { minRuns: "A whole number from 1 to 1,000." }
      : {}),
  };
}

/** Returns the request that sets the label. */
export function labelBodyOf(draft: LabelDraft, revision: number): PutLabel {
  const { holds, version, other } = draft;
  const rest = otherPercent(draft) ?? 0;
  return {
    ...(holds === "one"
      ? { version: Number(version) }
      : {
          split: [
            { version: Number(version), percent: Number(draft.percent) },
            { version: Number(other), percent: rest },
          ],
        }),
    rollback_on: draft.rollsBack ? ruleOf(draft) : null,
    expected_revision: revision,
  };
}

function ruleOf({ failurePercent, scoreName, scoreBelow, minRuns }: LabelDraft) {
  return {
    ...(failurePercent.trim() !== "" && { failure_rate: Number(failurePercent) / 100 }),
    ...(scoreName.trim() !== "" && { score: { name: scoreName.trim(), below: Number(scoreBelow) } }),
    min_runs: Number(minRuns),
  };
}

/** Returns the field of the form that shows a server's error for a parameter. */
export function labelFieldOf(param: string): string | undefined {
  if (param === "label") return "name";
  if (param.startsWith("split[0].percent")) return "percent";
  if (param.startsWith("split[0]")) return "version";
  if (param.startsWith("split")) return "other";
  if (param.startsWith("rollback_on.score")) return "scoreName";
  return { version: "version", "rollback_on.failure_rate": "failurePercent", "rollback_on.min_runs": "minRuns" }[param];
}

const readNumber = (text: string): number | null =>
  text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : null;
