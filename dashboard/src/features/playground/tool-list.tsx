import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import type { ToolReference } from "../../../../server/domain/api-types/agent.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";

/** The agent's tools in this draft, with remove and add. */
export function ToolList({
  agent,
  chosen,
  readOnly,
  onChoose,
}: {
  agent: Pick<Agent, "tools">;
  /** Tool ids. */
  chosen: readonly string[];
  readOnly: boolean;
  onChoose: (ids: string[]) => void;
}) {
  const { data: all } = useQuery(toolApi.every(useWorkspace()));
  const tools = chosen.flatMap((id) => [...agent.tools, ...(all ?? [])].find((tool) => tool.id === id) ?? []);
  const addable = all?.filter(({ id, enabled }) => enabled && !chosen.includes(id)) ?? [];
  return (
    <section aria-label="Tools" className="flex min-w-0 flex-col gap-1.5">
      <div className="flex min-h-(--control-sm) items-center justify-between">
        <span className="font-medium">Tools</span>
        {!readOnly && <AddTool tools={addable} onAdd={(id) => onChoose([...chosen, id])} />}
      </div>
      {chosen.length === 0 && <p className="text-xs text-muted">No tools.</p>}
      {tools.length > 0 && (
        <ul className="rounded-md border border-line">
          {tools.map((tool) => (
            <ToolRow
              key={tool.id}
              tool={tool}
              asksFirst={asksFirst(all?.find(({ id }) => id === tool.id))}
              onRemove={readOnly ? undefined : () => onChoose(chosen.filter((id) => id !== tool.id))}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function ToolRow({ tool, asksFirst, onRemove }: { tool: ToolReference; asksFirst: boolean; onRemove?: () => void }) {
  return (
    <li className="flex min-h-9 items-center gap-2 border-b border-line-soft py-1 pr-1 pl-2 last:border-b-0">
      <StepIcon type={asksFirst ? "approval" : tool.type === "agent" ? "subagent" : "tool_call"} />
      <span className="min-w-0 flex-1">
        <span className="cut block" title={tool.name}>
          {tool.name}
        </span>
        {asksFirst && <span className="block text-xs text-muted">Needs approval</span>}
      </span>
      <Badge>{toolTypeWord(tool.type)}</Badge>
      {onRemove && (
        <Button kind="ghost" size="icon-sm" aria-label={`Remove ${tool.name}`} title="Remove" onClick={onRemove}>
          <X aria-hidden className="size-3.5" strokeWidth={1.5} />
        </Button>
      )}
    </li>
  );
}

const shownAtMost = 100;

function AddTool({ tools, onAdd }: { tools: readonly Tool[]; onAdd: (id: string) => void }) {
  const trigger = (
    <button type="button" className={buttonClass({ kind: "ghost", size: "sm" })}>
      <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
      Add tool
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuHead }) => (
        <>
          {tools.length === 0 && <MenuHead>No other tools. Create one under Tools.</MenuHead>}
          {tools.slice(0, shownAtMost).map(({ id, name, type }) => (
            <MenuItem key={id} onClick={() => onAdd(id)}>
              <span className="cut flex-1">{name}</span>
              <Badge>{toolTypeWord(type)}</Badge>
            </MenuItem>
          ))}
        </>
      )}
    </Menu>
  );
}

const asksFirst = (tool: Tool | undefined): boolean => tool !== undefined && tool.approval !== "never";
