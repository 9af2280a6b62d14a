import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import type { HandoffFilter } from "../../../../server/domain/agent-snapshot.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { agentApi } from "../../entities/agent/agent-api.ts";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { jsonText, numberIn, readJson } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { EntryCard } from "../../ui/data/entry-card.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormOrJson } from "../../ui/forms/form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { filterOf, type Handoff, kindOfFilter, parseHandoffs } from "./handoff-fields.ts";

/** The handoffs of an agent, as fields or as JSON. */
export function HandoffsField({ value: text, fault, onText }: JsonFieldProps) {
  const schema = useApiSchema("CreateAgentRequest", "handoffs");
  const { value, fault: parseFault } = readJson(text.trim() === "" ? "[]" : text);
  const handoffs = parseFault === null ? parseHandoffs(value) : null;
  const put = (next: readonly Handoff[]) => onText(next.length > 0 ? jsonText(next) : "");
  return (
    <>
      <FormOrJson
        label="Handoffs"
        fields={
          handoffs && (
            <fieldset className="flex min-w-0 flex-col gap-2">
              <legend className="sr-only">Handoffs</legend>
              {handoffs.map((handoff, i) => (
                <HandoffFields
                  // biome-ignore lint/suspicious/noArrayIndexKey: an agent may be named twice while it is chosen.
                  key={i}
                  number={i + 1}
                  handoff={handoff}
                  onHandoff={(next) => put(handoffs.with(i, next))}
                  onRemove={() => put(handoffs.filter((_, n) => n !== i))}
                />
              ))}
              {handoffs.length === 0 && <p className="text-xs text-muted">No handoffs yet.</p>}
              {fault && (
                <p role="alert" className="text-xs text-bad wrap-anywhere">
                  {fault}
                </p>
              )}
            </fieldset>
          )
        }
        json={
          <JsonField
            label="Handoffs"
            optional
            placeholder='[{"agent_id": "agt_…", "filter": "all"}]'
            value={text}
            fault={fault}
            schema={schema}
            onText={onText}
          />
        }
      />
      {handoffs && (
        <div>
          <Button
            size="sm"
            disabled={handoffs.length >= limits.handoffs_per_agent}
            onClick={() => put([...handoffs, { agent_id: "", filter: "all" }])}
          >
            <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
            Add a handoff
          </Button>
        </div>
      )}
    </>
  );
}

const filterChoices = [
  { value: "all", label: "The whole conversation" },
  { value: "no_tool_calls", label: "Without tool calls" },
  { value: "last_message", label: "The user's last message" },
  { value: "messages", label: "The newest messages" },
] as const;

interface HandoffProps {
  number: number;
  handoff: Handoff;
  onHandoff: (handoff: Handoff) => void;
  onRemove: () => void;
}

function HandoffFields({ number, handoff, onHandoff, onRemove }: HandoffProps) {
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
          onChoose={(next) => onHandoff({ ...handoff, agent_id: next })}
        />
        <Select
          label="What goes along"
          choices={filterChoices}
          value={kindOfFilter(filter)}
          onChoose={(next) => put(filterOf(next))}
        />
      </div>
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
