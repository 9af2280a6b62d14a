import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { networkFault, readNetworks } from "./networks.ts";

/** Restrictions of a key to agents and networks. Collapsed, because most keys need none. */
export function Restrictions({
  draft: { agents, allowed_cidrs },
  text,
  fieldErrors,
  set,
}: Fields<{ agents: string[]; allowed_cidrs: string }>) {
  const at = useWorkspace();
  const { data } = useQuery(newestAgentsQuery(at));
  const [wasBlurred, setLeft] = useState(false);
  const knownAgents = data?.data ?? [];
  const toggle = (id: string, on: boolean) =>
    set({ agents: on ? [...agents, id] : agents.filter((each) => each !== id) });
  return (
    <details className="min-w-0">
      <summary className="w-fit font-medium text-muted hover:text-ink">Restrictions (optional)</summary>
      <div className="flex flex-col gap-4 pt-3">
        <fieldset className="flex min-w-0 flex-col gap-1.5">
          <legend className="mb-1.5 font-medium">Only these agents</legend>
          {knownAgents.length === 0 ? (
            <p className="text-xs text-muted">There are no agents yet.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
            <div tabIndex={0} className="max-h-40 overflow-y-auto rounded-md border border-line-control px-2.5 py-1">
              {knownAgents.map((agent) => (
                <label key={agent.id} className="flex min-w-0 cursor-pointer items-center gap-2.5 py-1">
                  <input
                    type="checkbox"
                    checked={agents.includes(agent.id)}
                    onChange={(event) => toggle(agent.id, event.target.checked)}
                  />
                  <span className="cut" title={agent.name}>
                    {agent.name}
                  </span>
                </label>
              ))}
            </div>
          )}
          {knownAgents.length > 0 && (
            <span className="text-xs text-muted">
              {agents.length === 0 ? "None selected: any agent." : `The key cannot see other agents.`}
            </span>
          )}
        </fieldset>
        <TextArea
          label="Only from these networks"
          mono
          rows={2}
          placeholder="Any IP address"
          hint="One per line, such as 203.0.113.0/24. Requests from other networks are refused."
          onBlur={() => setLeft(true)}
          {...text("allowed_cidrs")}
          error={fieldErrors.allowed_cidrs ?? (wasBlurred ? networkFault(readNetworks(allowed_cidrs)) : null)}
        />
      </div>
    </details>
  );
}
