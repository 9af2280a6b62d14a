import { emptyRunView } from "../../../../server/wire/fold-frames.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { Note } from "../../ui/note.tsx";
import { RunOutput } from "./run-output.tsx";

/** A run whose trace was deleted: its input, its output and its facts are all that is left. */
export function TraceGone({ run }: { run: Run }) {
  return (
    <section aria-label="Output" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-4 rail:p-5">
      <h2 className="sr-only">What is left of it</h2>
      <Note tone="info">
        <b>The trace of this run was deleted</b>
        <p className="text-muted">
          Its steps and events are gone, by hand or because they were older than this project keeps them. Input, output
          and usage stay.
        </p>
      </Note>
      <RunOutput run={run} loaded={null} live={emptyRunView} onSelect={() => {}} />
    </section>
  );
}
