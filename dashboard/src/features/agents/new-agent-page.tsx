import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { ApiError } from "../../lib/api.ts";
import { sendOnEnter } from "../../lib/send-on-enter.ts";
import { useMay } from "../../lib/use-may.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { focusFault } from "../../ui/fns/focus-fault.ts";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { AgentForm } from "./agent-form.tsx";
import { createAgent } from "./agents-api.ts";
import { creationOf, type Draft, draftOf, readDraft } from "./fns/draft.ts";
import { faultFields } from "./fns/fault-field.ts";

/** Makes an agent. */
export function NewAgentPage({ onCreated }: { onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [draft, setDraft] = useState<Draft>(() => ({ ...draftOf(), model: at.mode === "test" ? "test/echo" : "" }));
  const [tried, setTried] = useState(false);
  const creation = useMutation({
    mutationFn: () => createAgent(at, creationOf(draft)),
    onSuccess: (agent) => {
      toast("Agent created", agent.name);
      void client.invalidateQueries({ queryKey: ["agents"] });
      onCreated(agent.id);
    },
  });
  useEffect(() => {
    if (creation.error) focusFault(form.current);
  }, [creation.error]);
  useTitle("Create agent", "Agents");
  const refused = creation.error instanceof ApiError ? faultFields(creation.error.faults) : { faults: {} };
  const faults = { ...refused.faults, ...(tried ? readDraft(draft).faults : {}) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (Object.keys(readDraft(draft).faults).length > 0) focusFault(form.current);
    else if (!creation.isPending) creation.mutate();
  };
  return (
    <>
      <SheetHead>
        <Breadcrumb>
          <Link to="/agents">Agents</Link>
        </Breadcrumb>
        <h1 className="text-lg">Create agent</h1>
        <ModePill />
        {!may && <ViewOnly />}
      </SheetHead>
      <form ref={form} noValidate onSubmit={submit} onKeyDown={sendOnEnter} className="flex min-h-0 flex-1 flex-col">
        <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
          <fieldset disabled={!may} className="min-w-0 max-w-280">
            <legend className="sr-only">The new agent</legend>
            <AgentForm
              draft={draft}
              faults={faults}
              onChange={(change) => {
                setDraft((before) => ({ ...before, ...change }));
                if (creation.isError) creation.reset();
              }}
            />
          </fieldset>
          <div className="max-w-280 pb-5">
            <FoldedCode name="new agent" request={{ method: "POST", path: "/v1/agents", body: creationOf(draft) }} />
          </div>
        </div>
        <footer className="flex shrink-0 flex-col gap-3 border-t border-line bg-subtle px-4 py-3 rail:px-5">
          {creation.error && Object.keys(refused.faults).length === 0 && (
            <ErrorNote title="The agent was not created" error={creation.error} />
          )}
          <div className="flex flex-wrap items-center gap-2">
            <Button type="submit" kind="primary" disabled={!may || creation.isPending}>
              {creation.isPending ? "Creating agent" : "Create agent"}
            </Button>
            <Link to="/agents" className={buttonClass({ kind: "ghost" })}>
              Discard
            </Link>
          </div>
        </footer>
      </form>
    </>
  );
}
