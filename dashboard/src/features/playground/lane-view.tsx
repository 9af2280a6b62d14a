import { FlaskConical } from "lucide-react";
import type { ReactNode } from "react";
import { useFollowEnd } from "../../hooks/use-follow-end.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Callout } from "../../ui/feedback/callout.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";
import type { Turn } from "./turn.ts";
import { TurnView } from "./turn-view.tsx";
import type { Conversation } from "./use-lane.ts";

/** A conversation. It keeps scrolling to the end while the reader is there. */
export function ConversationView({
  lane,
  label,
  head,
  narrow = false,
  readOnly,
  onAgain,
  children,
}: {
  lane: Conversation;
  label: string;
  head?: ReactNode;
  /** True if two are shown side by side. */
  narrow?: boolean;
  readOnly: boolean;
  onAgain: (turn: Turn) => void;
  /** Content before the first message. */
  children?: ReactNode;
}) {
  const scroller = useFollowEnd(true, lane.turns);
  return (
    <section
      ref={scroller}
      aria-label={label}
      className="min-h-0 min-w-0 flex-1 overflow-y-auto px-4 pt-4 pb-4 rail:px-5"
    >
      <div className="mx-auto flex min-w-0 max-w-(--pg-read) flex-col gap-6">
        <h2 className="sr-only">{label}</h2>
        {head}
        {lane.isReading && <Skeleton className="w-1/2" />}
        <ErrorNote title="The conversation cannot be shown" error={lane.error} onRetry={lane.readAgain} />
        {lane.turns.length === 0 && !lane.isReading && !lane.error && children}
        {lane.turns.map((turn, index) => (
          <TurnView
            key={turn.key}
            turn={turn}
            narrow={narrow}
            readOnly={readOnly}
            onAnswered={(answer) => lane.note(turn, answer)}
            onAgain={readOnly || lane.isBusy || index < lane.turns.length - 1 ? undefined : () => onAgain(turn)}
          />
        ))}
      </div>
    </section>
  );
}

/** Notes above the message input. */
export function ChatNotes({
  hasTurns,
  unsaved,
  isForgetful,
  error,
}: {
  hasTurns: boolean;
  /** Labels of changes that runs ignore until the agent is saved. */
  unsaved: readonly string[];
  /** True if the model does not read earlier messages. */
  isForgetful: boolean;
  /** Error of stopping a run. */
  error: Error | null;
}) {
  const { mode } = useWorkspace();
  return (
    <div className="mx-auto flex w-full max-w-(--pg-read) flex-col gap-2 empty:hidden">
      <ErrorNote title="The run was not stopped" error={error} />
      {unsaved.length > 0 && (
        <Callout tone="warn">Not in runs yet: {unsaved.join(", ")}. Save the agent to try it.</Callout>
      )}
      {mode === "live" && hasTurns && (
        <p className="text-xs text-muted">Live data: tools take effect and models cost money.</p>
      )}
      {isForgetful && (
        <p className="text-xs text-muted">
          The model does not see earlier messages. Turn on “Remember the conversation” in Settings to change that.
        </p>
      )}
    </div>
  );
}

const inputs = ["What can you do for me?", "Say hello in three languages.", "Compare three planets in a table."];

/** Empty state of a conversation. */
export function TryAgent({ name, onInput }: { name: string; onInput?: (input: string) => void }) {
  const { mode } = useWorkspace();
  return (
    <EmptyState icon={FlaskConical} title={`Try ${name}`}>
      <p className="max-w-[46ch] text-muted">
        {mode === "test"
          ? "Runs here are real runs in test data, with a trace. You can answer tool calls yourself."
          : "Runs here are real runs in live data: tools take effect and models cost money."}
      </p>
      {onInput && (
        <div className="flex w-full max-w-100 flex-col gap-2">
          {inputs.map((input) => (
            <Button key={input} className="justify-start! whitespace-normal!" onClick={() => onInput(input)}>
              {input}
            </Button>
          ))}
        </div>
      )}
    </EmptyState>
  );
}
