import { useQuery } from "@tanstack/react-query";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Select } from "../../ui/select.tsx";

/** Which agent is tried; the last choice makes one. */
export function AgentSelect({
  value,
  name,
  hint,
  onAgent,
}: {
  value: string;
  /** Of an agent that the list may not hold. */
  name?: string;
  hint?: string;
  onAgent: (id: string) => void;
}) {
  const { data: agents } = useQuery(newestAgentsQuery(useWorkspace()));
  const may = useMay("member");
  const listed = agents?.data ?? [];
  const others = name && !listed.some(({ id }) => id === value) ? [{ value, label: name }] : [];
  return (
    <Select
      label="Agent"
      hint={hint}
      value={value}
      choices={[
        ...others,
        ...listed.map(({ id, name }) => ({ value: id, label: name })),
        ...(may || value === "new" ? [{ value: "new", label: "New agent…" }] : []),
      ]}
      onChoose={onAgent}
    />
  );
}
