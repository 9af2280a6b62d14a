import { answerQuestion, useLeaveQuestion } from "../lib/use-unsaved.ts";
import { ConfirmDialog } from "./dialog.tsx";

/** Asks whoever leaves a form with something in it that is not saved. */
export function LeaveQuestion({ above }: { above: "page" | "dialog" }) {
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
