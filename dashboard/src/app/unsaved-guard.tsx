import { type ShouldBlockFn, useBlocker } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { answerQuestion, mayLeave, useHasUnsaved, useLeaveQuestion } from "../hooks/use-unsaved.ts";
import { leavesForm } from "./leaves-form.ts";

const LeaveQuestion = lazy<ComponentType<{ above: "page" | "dialog" }>>(() =>
  import("../ui/dialogs/unsaved-changes-dialog.tsx").then(
    (module) => ({ default: module.UnsavedChangesDialog }),
    () => ({ default: BrowserQuestion }),
  ),
);

/** Asks before links, Back or closing the tab discard unsaved input. */
export function UnsavedGuard() {
  const isUnsaved = useHasUnsaved();
  useBlocker({ shouldBlockFn: shouldBlock, disabled: !isUnsaved });
  return <Suspense>{isUnsaved && <LeaveQuestion above="page" />}</Suspense>;
}

/** Falls back to the browser's question if the dialog's code cannot be loaded (server down or upgraded). */
function BrowserQuestion({ above }: { above: "page" | "dialog" }) {
  const isAsked = useLeaveQuestion(above);
  useEffect(() => {
    if (isAsked) answerQuestion(window.confirm("Leave without saving? Your changes would be lost."));
  }, [isAsked]);
  return null;
}

const shouldBlock: ShouldBlockFn = async ({ current, next }) => leavesForm(current, next) && !(await mayLeave());
