import { useQueryClient } from "@tanstack/react-query";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { assignAgentErrors, creationOf, draftOf, readDraft } from "../../entities/agent/agent-draft.ts";
import { CreatePage } from "../../entities/crud/create-page.tsx";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toast } from "../../ui/feedback/toast.ts";
import { AgentForm } from "./agent-form.tsx";

/** The form that creates an agent. */
export function NewAgentPage({ onCreated }: { onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first: () => ({ ...draftOf(), model: at.mode === "test" ? "test/echo" : "" }),
    check: (draft) => readDraft(draft).faults,
    blame: assignAgentErrors,
    send: (draft) => agentApi.create(at, creationOf(draft)),
    onSent: (agent) => {
      toast("Agent created", agent.name);
      void client.invalidateQueries(agentApi.all(at));
      onCreated(agent.id);
    },
  });
  return (
    <CreatePage noun="agent" many="Agents" form={form} body={creationOf(form.draft)}>
      <AgentForm {...form} />
    </CreatePage>
  );
}
