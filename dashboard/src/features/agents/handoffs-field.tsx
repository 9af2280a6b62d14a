import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { HandoffFilter } from "../../../../server/domain/agent-snapshot.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { numberIn } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { EntryCard } from "../../ui/data/entry-card.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import type { JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { EntriesField, type EntryProps } from "./entries-field.tsx";
import { filterOf, type Handoff, kindOfFilter, parseHandoffs, textOfVersion, withVersion } from "./handoff-fields.ts";

/** The handoffs of an agent, as fields or as JSON. */
export const HandoffsField = (props: JsonFieldProps) => (
  <EntriesField
    label="Handoffs"
    field="handoffs"
    placeholder='[{"agent_id": "agt_…", "filter": "all"}]'
    parse={parseHandoffs}
    about={(count) => (count > 0 ? null : "No handoffs yet.")}
    fields={HandoffFields}
    add={(list, put) => (
      <Button
        size="sm"
        disabled={list.length >= limits.handoffs_per_agent}
        onClick={() => put([...list, { agent_id: "", filter: "all" }])}
      >
        <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
        Add a handoff
      </Button>
    )}
    {...props}
  />
);

const filterChoices = [
  { value: "all", label: "The whole conversation" },
  { value: "no_tool_calls", label: "Without tool calls" },
  { value: "last_message", label: "The user's last message" },
  { value: "messages", label: "The newest messages" },
] as const;

function HandoffFields({ number, entry: handoff, onEntry: onHandoff, onRemove }: EntryProps<Handoff>) {
  const agents = useQuery(agentApi.every(useWorkspace()));
  const { agent_id, description = "", filter = "all" } = handoff;
  const known = (agents.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isKnown = known.some(({ value }) => value === agent_id);
  const put = (next: HandoffFilter) => onHandoff({ ...handoff, filter: next });
  return (
    <EntryCard title={`Handoff ${number}`} onRemove={onRemove}>
      <div className="grid gap-3 rail:grid-cols-2">
        <Select
          label="Agent"
          choices={isKnown ? known : [{ value: agent_id, label: agent_id || "Choose an agent" }, ...known]}
          value={agent_id}
          onChoose={(next) => onHandoff({ ...withVersion(handoff, ""), agent_id: next })}
        />
        <Select
          label="What goes along"
          choices={filterChoices}
          value={kindOfFilter(filter)}
          onChoose={(next) => put(filterOf(next))}
        />
      </div>
      <Field
        label="Version or label"
        hint="Empty: the newest version when a run begins."
        placeholder="production"
        autoComplete="off"
        value={textOfVersion(handoff)}
        onChange={({ target }) => onHandoff(withVersion(handoff, target.value))}
      />
      {typeof filter === "object" && (
        <div className="rail:w-1/2 rail:pr-1.5">
          <Field
            label="Number of messages"
            inputMode="numeric"
            value={String(filter.messages)}
            onChange={({ target }) => put({ messages: numberIn(target.value) as number })}
          />
        </div>
      )}
      <Field
        label="When to hand over"
        hint="The model reads it. Empty: the other agent's description."
        autoComplete="off"
        value={description}
        onChange={({ target }) => {
          const { description: _, ...rest } = handoff;
          onHandoff(target.value === "" ? rest : { ...rest, description: target.value });
        }}
      />
    </EntryCard>
  );
}
