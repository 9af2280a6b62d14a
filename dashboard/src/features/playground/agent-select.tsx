import { useQuery } from "@tanstack/react-query";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Select } from "../../ui/forms/select.tsx";

/** Agent picker; its last option creates one. */
export function AgentSelect({
  value,
  name,
  hint,
  onAgent,
}: {
  value: string;
  /** Name of an agent that may be missing in the list. */
  name?: string;
  hint?: string;
  onAgent: (id: string) => void;
}) {
  const { data: agents } = useQuery(newestAgentsQuery(useWorkspace()));
  const may = usePermission("member");
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
