import { type QueryFilters, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ComponentProps, ReactNode } from "react";
import { ConfirmDialog } from "./dialog.tsx";

interface ActDialogProps<Result> extends Omit<ComponentProps<typeof ConfirmDialog>, "doing" | "onConfirm"> {
  run: () => Promise<Result>;
  /** What was read of it alone. */
  gone?: QueryFilters;
  /** What is out of date now. */
  stale?: readonly QueryFilters[];
  /** Replaces the error that the server returned, where more can be said than that. */
  explain?: (error: Error) => ReactNode;
  /** The dialog is closed by then. */
  onDone?: (result: Result) => void;
}

/** Asks before an act, then does it: the dialog stays until that is done, and says why it was refused. */
export function ActDialog<Result>({
  run,
  gone,
  stale = [],
  explain,
  refused,
  children,
  onDone,
  onClose,
  ...asked
}: ActDialogProps<Result>) {
  const client = useQueryClient();
  const act = useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      onClose();
      onDone?.(result);
      if (gone) client.removeQueries(gone);
    },
    // Where it was refused, it may be another one by now.
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
