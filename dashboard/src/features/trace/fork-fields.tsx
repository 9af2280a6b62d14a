import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeEditor } from "../../ui/editor/code-editor.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { type draftFaults, editableOf, type ForkDraft, type ForkRule, forkRules } from "./fork-draft.ts";

interface ForkFieldsProps {
  run: Run;
  step: TraceStep;
  draft: ForkDraft;
  onChange: (part: Partial<ForkDraft>) => void;
}

/** Collapsed fields for other changes, and the rule for later tool calls. */
export function ForkFields({ run, step, draft, onChange }: ForkFieldsProps) {
  const { mode } = useWorkspace();
  const isImport = run.origin === "import";
  const names = Object.keys(draft.variables);
  const labels: Record<ForkRule, string> = {
    recorded_then_live: "Recorded, then live",
    recorded_only: "Recorded only",
    live: "Live",
  };
  const real = mode === "live" ? " This is live data: the calls take effect." : " Tools take effect, also in test.";
  const hints: Record<ForkRule, string> = {
    recorded_then_live: `Recorded calls return their recorded result. Other calls are made.${real}`,
    recorded_only: "No tool is called. Calls without a record return an error to the model.",
    live: `Every call is made.${real}`,
  };
  return (
    <>
      <details>
        <summary className="w-fit font-medium text-muted hover:text-ink">
          Also change the model, instructions{names.length > 0 && ", variables"} or input
        </summary>
        <div className="flex flex-col gap-4 pt-3">
          <Field
            label="Model"
            hint={`Empty: ${run.model}, as recorded.`}
            className="font-mono text-xs"
            value={draft.model}
            placeholder={run.model}
            spellCheck={false}
            onChange={(event) => onChange({ model: event.target.value })}
          />
          <CodeEditor
            label="Instructions"
            language="markdown"
            hint={`Empty: those of version ${run.agent_version}, as recorded.`}
            value={draft.instructions}
            onText={(instructions) => onChange({ instructions })}
          />
          {names.map((name) => (
            <TextArea
              key={name}
              label={`Variable ${name}`}
              rows={1}
              value={draft.variables[name]}
              onChange={({ target }) => onChange({ variables: { ...draft.variables, [name]: target.value } })}
            />
          ))}
          <TextArea label="Input" value={draft.input} onChange={(event) => onChange({ input: event.target.value })} />
          {!isImport && (
            <label className="flex items-center gap-2">
              <input
                type="checkbox"
                checked={draft.isCurrent}
                onChange={(event) => onChange({ isCurrent: event.target.checked })}
              />
              Use the current version of the agent
            </label>
          )}
        </div>
      </details>
      <RadioCards
        label={`Tools after step ${step.step_index}`}
        choices={forkRules
          .filter((value) => !isImport || value === "recorded_only")
          .map((value) => ({ value, label: labels[value], hint: hints[value] }))}
        chosen={draft.tools}
        onChoose={(tools) => onChange({ tools })}
      />
    </>
  );
}

interface ForkOutputProps {
  step: TraceStep;
  draft: ForkDraft;
  faults: ReturnType<typeof draftFaults>;
  /** True if it is as recorded. */
  isSame: boolean;
  onChange: (part: Partial<ForkDraft>) => void;
  onRestore: () => void;
}

/** Editor of the step's output: validated JSON for a tool, text and calls for a model. */
export function ForkOutput({ step, draft, faults, isSame, onChange, onRestore }: ForkOutputProps) {
  const isTool = editableOf(step) === "tool";
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <CodeEditor
        label={isTool ? "Tool output (JSON)" : "Model output"}
        language={isTool ? "json" : "markdown"}
        className="min-h-40"
        value={draft.output}
        error={faults.output}
        onText={(output) => onChange({ output })}
      />
      {isTool ? (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.isError}
            onChange={(event) => onChange({ isError: event.target.checked })}
          />
          Return this as an error
        </label>
      ) : (
        <details open={faults.calls !== null || undefined}>
          <summary className="w-fit font-medium text-muted hover:text-ink">Requested tool calls</summary>
          <div className="pt-2">
            <CodeEditor
              label="Calls, as JSON"
              language="json"
              value={draft.calls}
              error={faults.calls}
              onText={(calls) => onChange({ calls })}
            />
          </div>
        </details>
      )}
      <div className="flex min-h-(--control-sm) items-center gap-2 text-xs text-muted">
        {isSame ? (
          "Same as recorded"
        ) : (
          <>
            Edited
            <Button size="sm" onClick={onRestore}>
              Restore recorded value
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
