import { FlaskConical } from "lucide-react";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

const inputs = ["What can you do for me?", "Say hello in three languages.", "Compare three planets in a table."];

/** What stands in a conversation before its first input. */
export function TryAgent({ name, onInput }: { name: string; onInput?: (input: string) => void }) {
  const { mode } = useWorkspace();
  return (
    <EmptyState icon={FlaskConical} title={`Try ${name}`}>
      <p className="max-w-[46ch] text-muted">
        {mode === "test"
          ? "Runs here are real runs in test data. They have a trace, and you can answer tool calls by hand."
          : "Runs here are real runs in live data: tools are called and models cost money."}
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
