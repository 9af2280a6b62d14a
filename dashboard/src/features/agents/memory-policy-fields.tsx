import { useQuery } from "@tanstack/react-query";
import { contextStrategies } from "../../../../server/domain/agent-snapshot.ts";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import type { MemoryPolicy } from "../../entities/agent/definition.ts";
import { changeStore, pickStores, policyText, readPolicy } from "../../entities/agent/policy.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { RerankFields } from "../../entities/memory/rerank-fields.tsx";
import { kindWords, scopeWords } from "../../entities/memory/store-words.ts";
import { useApiSchema } from "../../entities/server/use-api-schema.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { FormOrJson } from "../../ui/forms/form-or-json.tsx";
import { JsonField, type JsonFieldProps } from "../../ui/forms/json-field.tsx";
import { Select } from "../../ui/forms/select.tsx";

interface PolicyProps {
  /** The agent's model: the default model of the chat reranker. */
  model: string;
  policy: MemoryPolicy;
  onPolicy: (policy: MemoryPolicy) => void;
}

/** The memory policy of an agent, as fields or as JSON. Both edit the same text. */
export function MemoryPolicyFields({ model, value: text, fault, onText }: JsonFieldProps & { model: string }) {
  const policy = readPolicy(text);
  const schema = useApiSchema("CreateAgentRequest", "memory");
  const onPolicy = (next: MemoryPolicy) => onText(policyText(next));
  return (
    <FormOrJson
      label="Memory"
      fields={
        policy && (
          <>
            <Stores model={model} policy={policy} onPolicy={onPolicy} />
            <History policy={policy} onPolicy={onPolicy} />
            {fault && (
              <p role="alert" className="text-xs text-bad wrap-anywhere">
                {fault}
              </p>
            )}
          </>
        )
      }
      json={
        <JsonField
          label="Memory policy"
          optional
          hint="stores, history and context."
          value={text}
          fault={fault}
          schema={schema}
          onText={onText}
        />
      }
    />
  );
}

function Stores({ model, policy, onPolicy }: PolicyProps) {
  const at = useWorkspace();
  const { data: stores = [], isPending } = useQuery(storeApi.every(at));
  const chosen = (policy.stores ?? []).map(({ memory_id }) => memory_id);
  if (isPending) return <p className="text-muted">Loading memory stores</p>;
  if (stores.length === 0) return <p className="text-muted">There are no memory stores yet.</p>;
  return (
    <fieldset className="flex min-w-0 flex-col">
      <legend className="mb-1.5 font-medium">Stores</legend>
      <div className="max-h-80 overflow-y-auto rounded-md border border-line">
        {stores.map((store) => (
          <div key={store.id} className="border-b border-line-soft px-3 py-1.5 last:border-b-0">
            <label className="flex min-h-(--control-sm) cursor-pointer items-center gap-2.5">
              <input
                type="checkbox"
                checked={chosen.includes(store.id)}
                onChange={(event) =>
                  onPolicy(
                    pickStores(
                      policy,
                      event.target.checked ? [...chosen, store.id] : chosen.filter((id) => id !== store.id),
                    ),
                  )
                }
              />
              <span className="min-w-0 flex-1 font-medium wrap-anywhere">{store.name}</span>
              <Badge>{kindWords[store.kind]}</Badge>
              <Badge>{scopeWords[store.scope]}</Badge>
            </label>
            {chosen.includes(store.id) && <StoreUse store={store} model={model} policy={policy} onPolicy={onPolicy} />}
          </div>
        ))}
      </div>
    </fieldset>
  );
}

function StoreUse({ store, model, policy, onPolicy }: PolicyProps & { store: Store }) {
  const use = policy.stores?.find(({ memory_id }) => memory_id === store.id) ?? { memory_id: store.id };
  const isVector = store.kind === "vector";
  return (
    <div className="flex flex-wrap items-end gap-x-4 gap-y-2 pb-1.5 pl-6">
      <div className="w-40">
        <Select
          label="Access"
          value={use.access ?? "read"}
          choices={[
            { value: "read", label: "Read" },
            { value: "read_write", label: "Read and write" },
          ]}
          onChoose={(access) => onPolicy(changeStore(policy, store.id, { access }))}
        />
      </div>
      {isVector && (
        <div className="w-30">
          <Field
            label="Max passages"
            inputMode="numeric"
            placeholder="6"
            value={use.top_k ?? ""}
            onChange={(event) =>
              onPolicy(changeStore(policy, store.id, { top_k: numberOr(event.target.value, undefined) }))
            }
          />
        </div>
      )}
      {isVector && (
        <label className="flex h-(--control) items-center gap-2 text-xs">
          <input
            type="checkbox"
            checked={use.auto_retrieve ?? true}
            onChange={(event) => onPolicy(changeStore(policy, store.id, { auto_retrieve: event.target.checked }))}
          />
          Search it with each input
        </label>
      )}
      {isVector && (
        <RerankFields
          type={use.rerank ? (use.rerank.type ?? "cross_encoder") : null}
          model={use.rerank?.model ?? ""}
          onType={(type) =>
            onPolicy(
              changeStore(policy, store.id, {
                rerank: type ? { model: type === "chat" ? model : "", type } : undefined,
              }),
            )
          }
          onModel={(model) => onPolicy(changeStore(policy, store.id, { rerank: { ...use.rerank, model } }))}
        />
      )}
      {isVector && store.scope === "user" && (
        <label className="flex h-(--control) items-center gap-2 text-xs">
          <input
            type="checkbox"
            checked={use.learn ?? false}
            onChange={(event) => onPolicy(changeStore(policy, store.id, { learn: event.target.checked || undefined }))}
          />
          Learn facts about the user
        </label>
      )}
    </div>
  );
}

function History({ policy, onPolicy }: Omit<PolicyProps, "model">) {
  const { history = {}, context = {} } = policy;
  return (
    <div className="grid gap-4 rail:grid-cols-3">
      <Select
        label="Thread"
        value={history.mode ?? "thread"}
        choices={[
          { value: "none", label: "Not read" },
          { value: "thread", label: "Read its messages" },
        ]}
        onChoose={(mode) => onPolicy({ ...policy, history: { ...history, mode } })}
      />
      <Field
        label="Max messages"
        inputMode="numeric"
        placeholder="50"
        disabled={history.mode === "none"}
        value={history.max_messages ?? ""}
        onChange={(event) =>
          onPolicy({ ...policy, history: { ...history, max_messages: numberOr(event.target.value, undefined) } })
        }
      />
      <Select
        label="When it grows too long"
        value={context.strategy ?? "compact"}
        choices={contextStrategies.map((value) => ({ value, label: strategyWords[value] }))}
        onChoose={(strategy) => onPolicy({ ...policy, context: { ...context, strategy } })}
      />
    </div>
  );
}

const strategyWords = { compact: "Summarize oldest messages", truncate: "Drop oldest messages", fail: "Fail the run" };

const numberOr = <T,>(text: string, other: T): number | T =>
  text.trim() === "" || !Number.isFinite(Number(text)) ? other : Number(text);
