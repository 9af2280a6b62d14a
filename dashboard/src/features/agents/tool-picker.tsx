import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { toolTypeWord } from "../../entities/tool/tool-words.ts";
import { plural } from "../../lib/format.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";

const searchFrom = 8;

/** Checkboxes that select an agent's tools from all tools of the project. */
export function ToolPicker({
  chosen,
  fault,
  onChoose,
}: {
  chosen: readonly string[];
  fault?: string | null;
  onChoose: (ids: string[]) => void;
}) {
  const at = useWorkspace();
  const id = useId();
  const tools = useQuery({ ...toolApi.every(at), refetchOnWindowFocus: "always" });
  const [text, setText] = useState("");
  const mayCreate = usePermission("member");
  if (tools.error) return <ErrorNote title="The tools cannot be shown" error={tools.error} />;
  if (tools.isPending) return <p className="text-muted">Loading tools</p>;
  if (tools.data.length === 0)
    return (
      <p className="text-muted">
        There are no tools yet.
        {mayCreate && (
          <>
            {" "}
            <CreateTool>Create one</CreateTool> in a new tab and select it here.
          </>
        )}
      </p>
    );
  const shown = tools.data.filter(({ name }) => matchesQuery(name, text));
  const toggle = (tool: string, on: boolean) =>
    onChoose(on ? [...chosen, tool] : chosen.filter((each) => each !== tool));
  return (
    <fieldset aria-describedby={`${id}-fault`} className="flex min-w-0 flex-col gap-2">
      <legend className="sr-only">Tools of the agent</legend>
      <div className="flex flex-wrap items-center gap-2 text-xs text-muted">
        {tools.data.length >= searchFrom && (
          <SearchField label="Search tools by name" placeholder="Name" value={text} onSearch={setText} />
        )}
        <span aria-live="polite">
          {chosen.length === 0 ? "None selected" : `${plural(chosen.length, "tool")} selected`}
        </span>
        {mayCreate && (
          <span className="ml-auto">
            <CreateTool>Create tool, in a new tab</CreateTool>
          </span>
        )}
      </div>
      <div className="max-h-80 overflow-y-auto rounded-md border border-line">
        {shown.map((tool) => (
          <ToolChoice key={tool.id} tool={tool} on={chosen.includes(tool.id)} onToggle={toggle} />
        ))}
        {shown.length === 0 && <p className="px-3 py-2 text-muted">No results.</p>}
      </div>
      <p id={`${id}-fault`} className="text-xs text-bad empty:hidden">
        {fault}
      </p>
    </fieldset>
  );
}

/** Opens in a new tab, so that the form keeps its input. The tools are refetched when its tab gets the focus again. */
function CreateTool({ children }: { children: string }) {
  return (
    <Link to="/tools/new" target="_blank" className="text-accent underline underline-offset-2">
      {children}
    </Link>
  );
}

function ToolChoice({ tool, on, onToggle }: { tool: Tool; on: boolean; onToggle: (id: string, on: boolean) => void }) {
  return (
    <label className="flex min-h-(--control) cursor-pointer items-center gap-2.5 border-b border-line-soft px-3 py-1.5 last:border-b-0 hover:bg-hover has-checked:bg-accent-soft has-focus-visible:bg-hover">
      <input type="checkbox" checked={on} onChange={(event) => onToggle(tool.id, event.target.checked)} />
      <span className="min-w-0 flex-1">
        <span className="font-medium wrap-anywhere">{tool.name}</span>
        {tool.description && <span className="cut block text-xs text-muted">{tool.description}</span>}
      </span>
      {!tool.enabled && <Badge>off</Badge>}
      <Badge>{toolTypeWord(tool.type)}</Badge>
    </label>
  );
}
