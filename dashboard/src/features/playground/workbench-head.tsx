import { Code, Columns2 } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import type { FullAgent } from "./fns/playground-types.ts";
import { useSaveAgent } from "./save-agent.ts";

/** The head of the playground: two at once, the code, and keeping what was changed. */
export function WorkbenchHead({
  agent,
  changes,
  hasFaults,
  readOnly,
  isBusy,
  compares,
  showsCode,
  onCompare,
  onCode,
  onDiscard,
}: {
  agent: FullAgent;
  /** Null while the agent is as it was saved. */
  changes: Record<string, unknown> | null;
  hasFaults: boolean;
  readOnly: boolean;
  isBusy: boolean;
  compares: boolean;
  showsCode: boolean;
  onCompare: () => void;
  onCode: () => void;
  onDiscard: () => void;
}) {
  const save = useSaveAgent(agent);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Playground</h1>
        <ModePill />
        {readOnly && <ViewOnly />}
        <span className="ml-auto flex flex-wrap items-center gap-2">
          <Button kind="ghost" aria-pressed={compares} disabled={isBusy} onClick={onCompare}>
            <Columns2 aria-hidden className="size-4" strokeWidth={1.5} />
            <span className="max-rail:sr-only">Compare two</span>
          </Button>
          <Button aria-pressed={showsCode} onClick={onCode}>
            <Code aria-hidden className="size-4" strokeWidth={1.5} />
            <span className="max-rail:sr-only">Show code</span>
          </Button>
          {changes && !readOnly && (
            <>
              <Button onClick={onDiscard}>Discard</Button>
              <Button
                disabled={save.isPending || hasFaults}
                onClick={() => save.mutate(changes)}
                title="Makes what is changed here the agent’s next version"
              >
                Save as version {agent.version + 1}
              </Button>
            </>
          )}
        </span>
      </SheetHead>
      {save.error && (
        <div className="shrink-0 border-b border-line px-4 py-2 rail:px-5">
          <ErrorNote title="The agent was not saved" error={save.error} />
        </div>
      )}
    </>
  );
}
