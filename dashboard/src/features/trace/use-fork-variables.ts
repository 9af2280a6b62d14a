import { useQuery } from "@tanstack/react-query";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Variable, VariableType, VariableValue } from "../../../../server/domain/variable.ts";
import { agentApi, versionQuery } from "../../entities/agent/agent-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";

/**
 * Returns the variables that a fork's agent declares: those of the version that the run has pinned, or of the current one.
 * If the agent cannot be read, such as a deleted one or that of an import, the recorded values name them.
 */
export function useForkVariables(
  run: Pick<Run, "agent_id" | "agent_version" | "origin"> & { variables?: Run["variables"] },
  isCurrent: boolean,
): readonly Variable[] {
  const at = useWorkspace();
  const isImport = run.origin === "import";
  const pinned = useQuery({
    ...versionQuery(at, run.agent_id, run.agent_version),
    enabled: !isImport && !isCurrent,
  });
  const current = useQuery({ ...agentApi.one(at, run.agent_id), enabled: !isImport && isCurrent });
  const agent = isCurrent ? current : pinned;
  return isImport || agent.isError ? recordedVariables(run.variables ?? {}) : (agent.data?.variables ?? []);
}

/** Returns variables that take values of the recorded types. */
const recordedVariables = (values: Readonly<Record<string, VariableValue>>): Variable[] =>
  Object.entries(values).map(([name, value]) => ({ name, type: typeof value as VariableType }));
