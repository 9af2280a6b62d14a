import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError } from "../../lib/api.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Breadcrumb } from "../../ui/breadcrumb.tsx";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { SheetForm, SheetFormActs } from "../../ui/sheet-form.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { toast } from "../../ui/toast.ts";
import { ViewOnly } from "../../ui/view-only.tsx";
import type { Draft } from "./agent-fields.ts";
import { AgentForm } from "./agent-form.tsx";
import { creationOf, draftOf, readDraft } from "./draft.ts";
import { faultFields } from "./fault-field.ts";

/** Makes an agent. */
export function NewAgentPage({ onCreated }: { onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const may = useMay("member");
  const client = useQueryClient();
  const [draft, setDraft] = useState<Draft>(() => ({ ...draftOf(), model: at.mode === "test" ? "test/echo" : "" }));
  const [tried, setTried] = useState(false);
  const isChanged = useChanged(draft);
  const creation = useMutation({
    mutationFn: () => agentApi.create(at, creationOf(draft)),
    onSuccess: (agent) => {
      toast("Agent created", agent.name);
      void client.invalidateQueries(agentApi.all(at));
      onCreated(agent.id);
    },
  });
  useTitle("Create agent", "Agents");
  const refused = creation.error instanceof ApiError ? faultFields(creation.error.faults).faults : {};
  const submit = () => {
    setTried(true);
    if (Object.keys(readDraft(draft).faults).length > 0) return false;
    if (may && !creation.isPending) creation.mutate();
    return true;
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
      <SheetForm
        legend="The new agent"
        disabled={!may}
        unsaved={isChanged && (creation.isIdle || creation.isError)}
        error={creation.error}
        onSubmit={submit}
        code={<FoldedCode name="new agent" request={{ method: "POST", path: "/v1/agents", body: creationOf(draft) }} />}
        foot={
          <>
            {creation.error && Object.keys(refused).length === 0 && (
              <ErrorNote title="The agent was not created" error={creation.error} />
            )}
            <SheetFormActs>
              <Button type="submit" kind="primary" disabled={!may || creation.isPending}>
                {creation.isPending ? "Creating agent" : "Create agent"}
              </Button>
              <Link to="/agents" ignoreBlocker className={buttonClass({ kind: "ghost" })}>
                Discard
              </Link>
            </SheetFormActs>
          </>
        }
      >
        <AgentForm
          draft={draft}
          faults={{ ...refused, ...(tried ? readDraft(draft).faults : {}) }}
          onChange={(change) => {
            setDraft((before) => ({ ...before, ...change }));
            if (creation.isError) creation.reset();
          }}
        />
      </SheetForm>
    </>
  );
}
