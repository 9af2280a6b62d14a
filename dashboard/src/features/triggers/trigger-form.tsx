import { useQuery } from "@tanstack/react-query";
import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { limits } from "../../../../server/domain/limits.ts";
import type { CreateTrigger } from "../../../../server/resources/triggers/schema.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { DeclaredVariables } from "../../entities/agent/declared-variables.tsx";
import { useKnownTeamVariables } from "../../entities/agent/team-variables.ts";
import { useAgentChoices } from "../../entities/agent/use-agent-choices.ts";
import { VersionSelect } from "../../entities/agent/version-select.tsx";
import { AutomationForm } from "../../entities/automation/automation-form.tsx";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { triggerApi } from "../../entities/trigger/trigger-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { readJson } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Field } from "../../ui/forms/field.tsx";
import { JsonField } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { draftOf, filterFault, orderOf } from "./trigger-draft.ts";
import { senderNames } from "./trigger-words.tsx";

const senders = Object.entries(senderNames).map(([value, label]) => ({
  value: value as CreateTrigger["verification"],
  label,
}));

/** Form that creates or edits a trigger. */
export function TriggerForm({
  trigger,
  onClose,
  onDone,
}: {
  /** Absent for a new one. */
  trigger?: Trigger;
  onClose: () => void;
  onDone: (done: Trigger) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(triggerApi);
  const form = useForm({
    first: () => draftOf(trigger),
    check: ({ filter }) => ({ filter: filterFault(filter, readJson) }),
    send: (draft): Promise<Trigger> => {
      const order = orderOf(draft, agents[0]?.value ?? "", declared);
      const { verification: _, ...change } = order;
      return trigger ? triggerApi.change(at, trigger.id, change) : triggerApi.create(at, order);
    },
    onSent: async (done) => {
      await refresh();
      onDone(done);
    },
  });
  const { draft, set, text } = form;
  const agents = useAgentChoices(draft.agent_id);
  const chosen = draft.agent_id || (agents[0]?.value ?? "");
  const agent = useQuery({ ...agentApi.one(at, chosen), enabled: chosen !== "" }).data;
  // Values of variables that are not known yet would be taken away.
  const declared = useKnownTeamVariables(agent);
  const body = orderOf(draft, chosen, declared);
  const isShared = draft.verification === "shared_secret";
  return (
    <AutomationForm
      noun="trigger"
      id={trigger?.id}
      form={form}
      name={{ ...text("name"), placeholder: "New issues" }}
      agent={{ choices: agents, onChoose: (agent_id) => set({ agent_id, choice: "" }) }}
      body={body}
      onClose={onClose}
    >
      <VersionSelect agentId={chosen} hint="A label is read at each event." {...form.pick("choice")} />
      {!trigger && (
        <Select
          label="Sender"
          choices={senders}
          hint="Who sends the events, and so how each one is verified."
          {...form.pick("verification")}
        />
      )}
      {isShared && (
        <Field
          label="Header of the secret (optional)"
          maxLength={64}
          autoComplete="off"
          placeholder="Authorization"
          hint="Authorization: a bearer token, or the password in the address."
          {...text("secret_header")}
        />
      )}
      <TextArea
        label="Input"
        rows={3}
        mono
        placeholder="Triage this issue: {{body.issue.title}}"
        hint="A template with values of the event. Empty: the whole event, marked as untrusted."
        maxLength={limits.trigger_template_length}
        {...text("input")}
      />
      {declared && declared.length > 0 && (
        <fieldset className="flex min-w-0 flex-col gap-4">
          <legend className="pb-2 font-medium">Variables of the agent</legend>
          <p className="text-xs text-muted">
            Each is a template, such as {"{{body.customer.name}}"}, or a value for all events. Empty: the default.
          </p>
          <DeclaredVariables
            variables={declared}
            texts={draft.values}
            onText={(name, value) => set({ values: { ...draft.values, [name]: value } })}
          />
        </fieldset>
      )}
      <details className="min-w-0">
        <summary className="w-fit font-medium text-muted hover:text-ink">Filter, repeats, thread and user</summary>
        <div className="flex flex-col gap-4 pt-3">
          <JsonField
            label="Filter (optional)"
            optional
            placeholder='[{"path": "body.action", "in": ["opened"]}]'
            hint="Conditions that an event must meet. Others are ignored."
            {...form.json("filter")}
          />
          <Field
            label="Id of an event (optional)"
            autoComplete="off"
            placeholder="body.id"
            hint="The same id makes one run. Empty: where this sender has its ids."
            {...text("dedupe")}
          />
          <Field
            label="Thread (optional)"
            autoComplete="off"
            placeholder="body.issue.node_id"
            hint="Events with the same value go on in one thread."
            {...text("thread")}
          />
          <Field
            label="User (optional)"
            autoComplete="off"
            placeholder="body.sender.login"
            hint="The place of the user_id of its runs."
            {...text("user")}
          />
        </div>
      </details>
    </AutomationForm>
  );
}
