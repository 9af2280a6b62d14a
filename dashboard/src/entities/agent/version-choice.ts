import type { AgentLabel } from "../../../../server/domain/api-types/label.ts";
import { holdsBriefly } from "../label/label-words.ts";

/** A fixed version, that of a label, or with neither the newest. */
interface VersionChoice {
  version: number | null;
  label: string | null;
}

/** Returns a choice as a text: `3`, `@production`, or empty for the newest version. */
export const textOfChoice = ({ version, label }: Partial<VersionChoice>): string =>
  label != null ? `@${label}` : version != null ? String(version) : "";

/** Reads such a text. */
export function readChoiceText(text: string): VersionChoice {
  if (text.startsWith("@")) return { version: null, label: text.slice(1) };
  return { version: text === "" ? null : Number(text), label: null };
}

/** Returns the fields of a request: only those that are chosen. */
export function chosenFields(text: string): { version?: number; label?: string } {
  const { version, label } = readChoiceText(text);
  return { ...(version !== null && { version }), ...(label !== null && { label }) };
}

const mostVersions = 100;

/** Returns the numbers of the newest versions, newest first. */
export const newestVersions = (newest: number): number[] =>
  Array.from({ length: Math.min(newest, mostVersions) }, (_, i) => newest - i);

export interface ChoiceOption {
  value: string;
  label: string;
  group?: string;
}

/** Returns all choices for an agent's version. One that no longer exists stays in the list, and says so. */
export function versionOptions({
  newest,
  labels,
  onlyLabels = false,
  chosen,
}: {
  /** Number of the newest version, if it is known. Versions have all numbers up to it. */
  newest: number | undefined;
  /** Undefined while they are loading. */
  labels: readonly Pick<AgentLabel, "name" | "version" | "split">[] | undefined;
  /** True if fixed versions are no choice. */
  onlyLabels?: boolean;
  chosen: string;
}): ChoiceOption[] {
  const { version, label } = readChoiceText(chosen);
  const isGone = label !== null && labels !== undefined && !labels.some(({ name }) => name === label);
  const pending = label !== null && labels === undefined ? [{ value: chosen, label, group: "Labels" }] : [];
  const versions = onlyLabels || newest === undefined ? [] : newestVersions(newest);
  const isUnlisted = version !== null && !versions.includes(version);
  return [
    { value: "", label: newest === undefined ? "Newest" : `Newest (v${newest})` },
    ...pending,
    ...(isGone ? [{ value: chosen, label: `${label} (deleted)`, group: "Labels" }] : []),
    ...(labels ?? []).map((each) => ({
      value: `@${each.name}`,
      label: `${each.name} (${holdsBriefly(each)})`,
      group: "Labels",
    })),
    ...(isUnlisted ? [{ value: chosen, label: `v${version}`, group: "Versions" }] : []),
    ...versions.map((each) => ({ value: String(each), label: `v${each}`, group: "Versions" })),
  ];
}
