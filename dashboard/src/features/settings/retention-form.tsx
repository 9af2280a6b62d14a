import { useState } from "react";
import type { Project as ProjectDetails } from "../../../../server/domain/api-types/console.ts";
import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import { ConfirmDialog } from "../../ui/dialogs/dialog.tsx";
import type { Value } from "./amount.ts";
import type { AmountSetting } from "./amount-row.tsx";
import { AmountsForm } from "./amounts-form.tsx";
import { describeDeletedData } from "./forgotten.ts";

const retentionSetting = (mode: Mode, dataKind: "runs" | "traces", label: string): AmountSetting => ({
  name: `${mode}.${dataKind}_days`,
  label,
  unit: "days",
  usual: null,
  blank: "–",
  choices: [
    { value: "unset", label: "Keep indefinitely" },
    { value: "own", label: "Days" },
  ],
});

const settings = [
  retentionSetting("test", "runs", "Test runs"),
  retentionSetting("test", "traces", "Traces of test runs"),
  retentionSetting("live", "runs", "Live runs"),
  retentionSetting("live", "traces", "Traces of live runs"),
];

interface Question {
  losses: string[];
  save: () => void;
}

/** Retention of a project's data. A shorter one deletes data, so it asks for confirmation. */
export function RetentionForm({ project }: { project: ProjectDetails }) {
  const [question, setQuestion] = useState<Question | null>(null);
  const [open, setOpen] = useState(false);
  const { test, live } = project.retention;
  const saved: Record<string, Value> = {
    "test.runs_days": test.runs_days,
    "test.traces_days": test.traces_days,
    "live.runs_days": live.runs_days,
    "live.traces_days": live.traces_days,
  };
  const ask = (changes: Record<string, Value>, save: () => void) => {
    const losses = describeDeletedData(saved, changes);
    if (losses.length === 0) return save();
    setQuestion({ losses, save });
    setOpen(true);
  };
  return (
    <>
      <AmountsForm
        project={project}
        group="retention"
        settings={settings}
        saved={saved}
        act="Save retention"
        rule="Enter a whole number of days, 1 or more. Choose Keep indefinitely to keep all."
        ask={ask}
      />
      <ConfirmDialog
        open={open}
        title="Save retention"
        act="Save and delete"
        onConfirm={() => {
          setOpen(false);
          question?.save();
        }}
        onClose={() => setOpen(false)}
      >
        {question?.losses.map((loss) => (
          <p key={loss}>{loss}</p>
        ))}
        <p className="mt-2">Deletion starts within minutes and cannot be undone.</p>
      </ConfirmDialog>
    </>
  );
}
