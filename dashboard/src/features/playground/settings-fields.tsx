import { useQuery } from "@tanstack/react-query";
import { reasoningEfforts } from "../../../../server/domain/providers.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { ScriptEditor } from "../../entities/agent/script-editor.tsx";
import { toolApi } from "../../entities/tool/tool-api.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { type Draft, readsThreadHistory, withParallel } from "./draft.ts";

interface SettingsProps {
  agent: FullAgent;
  fields: Fields<Draft>;
  readOnly: boolean;
  /** Labels of changes that runs ignore until the agent is saved. */
  unsaved: readonly string[];
}

/** Limits of a run, and model settings besides the instructions. */
export function SettingsFields({ agent, fields: { draft, set, text, json, pick }, readOnly, unsaved }: SettingsProps) {
  const all = useQuery(toolApi.every(useWorkspace())).data ?? [];
  const picked = all.filter(({ id, type }) => draft.tools.includes(id) && type !== "mcp");
  return (
    <>
      <fieldset className="grid min-w-0 grid-cols-2 gap-3" disabled={readOnly}>
        <legend className="sr-only">Run settings</legend>
        <Field label="Max model calls" inputMode="numeric" {...text("max_turns")} />
        <Field label="Cost limit (USD)" inputMode="decimal" placeholder="No limit" {...text("run_cost_usd")} />
        <div className="col-span-2">
          <Field
            label="User"
            placeholder="None"
            autoComplete="off"
            hint="The user_id of runs here: tools act as this user."
            maxLength={255}
            {...text("user")}
          />
        </div>
        <div className="col-span-2">
          <Check
            label="Remember the conversation"
            checked={readsThreadHistory(agent, draft)}
            onCheck={(remembers) => set({ remembers })}
          />
        </div>
      </fieldset>
      <fieldset className="flex min-w-0 flex-col gap-3 border-t border-line-soft pt-3" disabled={readOnly}>
        <legend className="sr-only">Model settings</legend>
        {unsaved.length > 0 && (
          <p className="text-xs text-warn">Not in runs yet: {unsaved.join(", ")}. Save the agent first.</p>
        )}
        <div className="grid grid-cols-2 gap-3">
          <Field label="Temperature" inputMode="decimal" placeholder="Default" {...text("temperature")} />
          <Field label="Max output tokens" inputMode="numeric" placeholder="Default" {...text("max_output_tokens")} />
        </div>
        <Select
          label="Reasoning effort"
          choices={["", ...reasoningEfforts].map((value) => ({ value, label: value || "Default" }))}
          {...pick("reasoning_effort")}
        />
        <Check
          label="Parallel tool calls"
          checked={draft.parallel_tool_calls !== "false"}
          onCheck={(on) => set(withParallel(agent, on))}
        />
        {draft.model === "test/script" && <ScriptEditor tools={picked} readOnly={readOnly} {...json("script")} />}
      </fieldset>
    </>
  );
}

function Check({ label, checked, onCheck }: { label: string; checked: boolean; onCheck: (checked: boolean) => void }) {
  return (
    <label className="flex cursor-pointer items-center gap-2">
      <input type="checkbox" checked={checked} onChange={(event) => onCheck(event.target.checked)} />
      {label}
    </label>
  );
}
