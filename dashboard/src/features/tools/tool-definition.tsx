import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../../lib/api.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { useMay } from "../../lib/use-may.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { focusFault } from "../../ui/fns/focus-fault.ts";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.tsx";
import type { Tool } from "./fns/tool.ts";
import { readToolDraft, type ToolDraft, toolChanges, toolDraftOf, toolFaults } from "./fns/tool-draft.ts";
import { ServerTools } from "./server-tools.tsx";
import { ToolForm } from "./tool-form.tsx";
import { changeTool } from "./tools-api.ts";

/** What a tool is, to read and to change. Its type stands. */
export function ToolDefinition({ tool }: { tool: Tool }) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [base, setBase] = useState(tool);
  const [draft, setDraft] = useState<ToolDraft>(() => toolDraftOf(tool));
  const [tried, setTried] = useState(false);
  const changes = toolChanges(draft, base);
  const dirty = Object.keys(changes).length > 0;
  const keep = (saved: Tool) => {
    setBase(saved);
    setDraft(toolDraftOf(saved));
    setTried(false);
  };
  const save = useMutation({
    mutationFn: () => changeTool(at, tool.id, changes),
    onSuccess: (saved) => {
      client.setQueryData(["tools", at.projectId, at.mode, "one", saved.id], saved);
      keep(saved);
      toast("Tool saved", saved.name);
      void client.invalidateQueries({ queryKey: ["tools", at.projectId, at.mode] });
    },
  });
  useEffect(() => {
    if (save.error) focusFault(form.current);
  }, [save.error]);
  const refused = save.error instanceof ApiError ? toolFaults(save.error.faults) : { faults: {}, rest: [] };
  const faults = { ...refused.faults, ...(tried ? readToolDraft(tool.type, draft).faults : {}) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(readToolDraft(tool.type, draft).faults).length > 0) focusFault(form.current);
    else if (dirty && !save.isPending) save.mutate();
  };
  // What somebody else saved comes with the next reading: nobody has written here yet, so it is taken.
  if (tool.updated_at > base.updated_at && !dirty && !save.isPending) keep(tool);
  return (
    <form ref={form} noValidate onSubmit={submit} onKeyDown={sendOnEnter} className="flex min-h-0 flex-1 flex-col">
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <div className="max-w-280">
          {tool.type === "mcp" && <ServerTools tool={tool} />}
          <fieldset disabled={!may} className="min-w-0">
            <legend className="sr-only">Definition of {base.name}</legend>
            <ToolForm
              type={tool.type}
              draft={draft}
              faults={faults}
              onChange={(change) => {
                setDraft((before) => ({ ...before, ...change }));
                if (save.isError) save.reset();
              }}
            />
          </fieldset>
          <div className="pb-5">
            <FoldedCode
              name="tool"
              request={{
                method: "PATCH",
                path: `/v1/tools/${tool.id}`,
                body: dirty ? changes : { description: base.description },
              }}
            />
          </div>
        </div>
      </div>
      {may && (dirty || save.error) && (
        <footer className="flex shrink-0 flex-col gap-3 border-t border-line bg-subtle px-4 py-3 rail:px-5">
          {save.error && (refused.rest.length > 0 || Object.keys(refused.faults).length === 0) && (
            <ErrorNote title="Not saved" error={save.error} />
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" kind="primary" disabled={!dirty || save.isPending}>
              {save.isPending ? "Saving" : "Save tool"}
            </Button>
            <Button
              kind="ghost"
              onClick={() => {
                save.reset();
                keep(base);
              }}
            >
              Discard
            </Button>
            <span className="text-xs text-muted" role="status">
              {Object.keys(faults).length > 0
                ? "Something cannot be saved as it is."
                : "New runs get what you save; runs under way keep what they began with."}
            </span>
          </div>
        </footer>
      )}
    </form>
  );
}
