import { type ShouldBlockFn, useBlocker } from "@tanstack/react-router";
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { answerQuestion, mayLeave, useHasUnsaved, useLeaveQuestion } from "../lib/use-unsaved.ts";
import { leavesForm } from "./leaves-form.ts";

const LeaveQuestion = lazy<ComponentType<{ above: "page" | "dialog" }>>(() =>
  import("../ui/leave-question.tsx").then(
    (module) => ({ default: module.LeaveQuestion }),
    () => ({ default: BrowserQuestion }),
  ),
);

/** Keeps what is not saved: links, Back and the closing of the tab ask first. */
export function UnsavedGuard() {
  const isUnsaved = useHasUnsaved();
  useBlocker({ shouldBlockFn: isKept, disabled: !isUnsaved });
  return <Suspense>{isUnsaved && <LeaveQuestion above="page" />}</Suspense>;
}

/** Asks the browser's way where our question does not come, since the server is away or was upgraded: the page stays. */
function BrowserQuestion({ above }: { above: "page" | "dialog" }) {
  const isAsked = useLeaveQuestion(above);
  useEffect(() => {
    if (isAsked) answerQuestion(window.confirm("Leave without saving? Your changes would be lost."));
  }, [isAsked]);
  return null;
}

const isKept: ShouldBlockFn = async ({ current, next }) => leavesForm(current, next) && !(await mayLeave());
