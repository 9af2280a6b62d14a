import type { TraceStep } from "../../../../server/wire/trace.ts";
import { Button } from "../../ui/button.tsx";
import { TextArea } from "../../ui/text-area.tsx";
import { type draftFaults, editableOf, type ForkDraft } from "./fork-draft.ts";

interface ForkOutputProps {
  step: TraceStep;
  draft: ForkDraft;
  faults: ReturnType<typeof draftFaults>;
  /** As it was recorded. */
  isSame: boolean;
  onChange: (part: Partial<ForkDraft>) => void;
  onRestore: () => void;
}

/** The editor for what the step gave: JSON of a tool, which is checked while it is written, or a model's text and calls. */
export function ForkOutput({ step, draft, faults, isSame, onChange, onRestore }: ForkOutputProps) {
  const isTool = editableOf(step) === "tool";
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <TextArea
        label={isTool ? "What the tool returned, as JSON" : "What the model said"}
        mono={isTool}
        className="min-h-40"
        value={draft.output}
        error={faults.output}
        onChange={(event) => onChange({ output: event.target.value })}
      />
      {isTool ? (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.isError}
            onChange={(event) => onChange({ isError: event.target.checked })}
          />
          It is an error: the model reads it as what went wrong
        </label>
      ) : (
        <details open={faults.calls !== null || undefined}>
          <summary className="w-fit font-medium text-muted hover:text-ink">Calls that it asked for</summary>
          <div className="pt-2">
            <TextArea
              label="Calls, as JSON"
              mono
              value={draft.calls}
              error={faults.calls}
              onChange={(event) => onChange({ calls: event.target.value })}
            />
          </div>
        </details>
      )}
      <div className="flex min-h-(--control-sm) items-center gap-2 text-xs text-muted">
        {isSame ? (
          "Same as recorded"
        ) : (
          <>
            Not as recorded
            <Button size="sm" onClick={onRestore}>
              Take the recorded one
            </Button>
          </>
        )}
      </div>
    </div>
  );
}
