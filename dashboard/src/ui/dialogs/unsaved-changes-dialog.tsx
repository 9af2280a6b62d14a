import { answerQuestion, useLeaveQuestion } from "../../hooks/use-unsaved.ts";
import { ConfirmDialog } from "./dialog.tsx";

/** Asks before leaving a form with unsaved changes. */
export function UnsavedChangesDialog({ above }: { above: "page" | "dialog" }) {
  return (
    <ConfirmDialog
      open={useLeaveQuestion(above)}
      title="Leave without saving?"
      act="Leave"
      keep="Keep editing"
      onConfirm={() => answerQuestion(true)}
      onClose={() => answerQuestion(false)}
    >
      <p>Your changes are not saved yet and would be lost.</p>
    </ConfirmDialog>
  );
}
