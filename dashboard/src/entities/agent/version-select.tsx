import { useQuery } from "@tanstack/react-query";
import type { ComponentProps } from "react";
import { useWorkspace } from "../../lib/workspace.ts";
import { Select } from "../../ui/forms/select.tsx";
import { labelsQuery } from "../label/label-api.ts";
import { agentApi } from "./agent-api.ts";
import { type ChoiceOption, versionOptions } from "./version-choice.ts";

/** Returns the choices for an agent's version: the newest, its labels, and unless `onlyLabels` its versions. */
export function useVersionOptions(
  agentId: string,
  chosen: string,
  { onlyLabels = false }: { onlyLabels?: boolean } = {},
): { options: ChoiceOption[]; error: Error | null } {
  const at = useWorkspace();
  const isAgent = agentId !== "";
  const agent = useQuery({ ...agentApi.one(at, agentId), enabled: isAgent });
  const labels = useQuery({ ...labelsQuery(at, agentId), enabled: isAgent });
  const options = versionOptions({
    newest: agent.data?.version,
    labels: labels.data?.data,
    onlyLabels,
    chosen,
  });
  return { options, error: labels.error ?? agent.error };
}

/** Picker for the version of an agent. Its value is a text of `version-choice.ts`. */
export function VersionSelect({
  agentId,
  value,
  hint,
  label = "Version",
  onlyLabels,
  ...rest
}: Omit<ComponentProps<typeof Select<string>>, "choices" | "label"> & {
  /** Empty until an agent is chosen. */
  agentId: string;
  label?: string;
  onlyLabels?: boolean;
}) {
  const { options, error } = useVersionOptions(agentId, value, { onlyLabels });
  return (
    <Select
      label={label}
      choices={options}
      value={value}
      hint={error ? `Labels and versions cannot be shown: ${error.message}` : hint}
      {...rest}
    />
  );
}
