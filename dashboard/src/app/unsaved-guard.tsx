import { type ShouldBlockFn, useBlocker } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { mayLeave, useHasUnsaved } from "../lib/use-unsaved.ts";
import { leavesForm } from "./fns/leaves-form.ts";

const LeaveQuestion = lazy(() =>
  import("../ui/leave-question.tsx").then((module) => ({ default: module.LeaveQuestion })),
);

/** Keeps what is not saved: links, Back and the closing of the tab ask first. */
export function UnsavedGuard() {
  const isUnsaved = useHasUnsaved();
  useBlocker({ shouldBlockFn: isKept, disabled: !isUnsaved });
  return <Suspense>{isUnsaved && <LeaveQuestion above="page" />}</Suspense>;
}

const isKept: ShouldBlockFn = async ({ current, next }) => leavesForm(current, next) && !(await mayLeave());
