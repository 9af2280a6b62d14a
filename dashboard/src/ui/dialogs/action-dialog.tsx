import { type QueryFilters, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ComponentProps, ReactNode } from "react";
import { ConfirmDialog } from "./dialog.tsx";

interface ActionDialogProps<Result> extends Omit<ComponentProps<typeof ConfirmDialog>, "doing" | "onConfirm"> {
  run: () => Promise<Result>;
  /** Queries of the deleted object, which are removed. */
  gone?: QueryFilters;
  /** Queries to invalidate. */
  stale?: readonly QueryFilters[];
  /** Renders a more specific error than the server's. */
  explain?: (error: Error) => ReactNode;
  /** Called after the dialog closed. */
  onDone?: (result: Result) => void;
}

/** Confirms an action and runs it; the dialog stays open until it succeeds, and shows the error if it fails. */
export function ActionDialog<Result>({
  run,
  gone,
  stale = [],
  explain,
  refused,
  children,
  onDone,
  onClose,
  ...asked
}: ActionDialogProps<Result>) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      onClose();
      onDone?.(result);
      if (gone) client.removeQueries(gone);
    },
    // Invalidate after a failure too: the object may have changed.
    onSettled: () => Promise.all(stale.map((each) => client.invalidateQueries(each))),
  });
  const explained = act.error && explain?.(act.error);
  return (
    <ConfirmDialog
      {...asked}
      doing={act}
      refused={explained ? undefined : refused}
      onConfirm={() => act.mutate()}
      onClose={onClose}
    >
      {children}
      {explained}
    </ConfirmDialog>
  );
}
