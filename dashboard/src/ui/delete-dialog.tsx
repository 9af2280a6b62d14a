import { type QueryFilters, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ConfirmDialog } from "./dialog.tsx";
import { toast } from "./toast.ts";

/** Asks before something is deleted, and names the effect. With `typed`, its name has to be written first. */
export function DeleteDialog({
  noun,
  name,
  typed = false,
  told = name,
  busy,
  remove,
  gone,
  stale,
  children,
  onClose,
  onDeleted,
}: {
  /** “agent”. */
  noun: string;
  name: string;
  /** For what breaks others in live. */
  typed?: boolean;
  /** What the message of success names; none if empty. */
  told?: string;
  /** What the effect depends on is not known yet. */
  busy?: boolean;
  remove: () => Promise<unknown>;
  /** What was read of it alone. */
  gone?: QueryFilters;
  /** What is out of date now. */
  stale: readonly QueryFilters[];
  /** The effect. */
  children: ReactNode;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const client = useQueryClient();
  const deletion = useMutation({
    mutationFn: remove,
    onSuccess: () => {
      toast(`${noun[0]!.toUpperCase()}${noun.slice(1)} deleted`, told || undefined);
      onClose();
      onDeleted?.();
      if (gone) client.removeQueries(gone);
    },
    // Where it was refused, it may be another one by now.
    onSettled: () => Promise.all(stale.map((each) => client.invalidateQueries(each))),
  });
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      act={`Delete ${noun}`}
      acting="Deleting"
      keep="Keep it"
      typed={typed ? name : undefined}
      busy={busy}
      doing={deletion}
      refused={`The ${noun} was not deleted`}
      onConfirm={() => deletion.mutate()}
      onClose={onClose}
    >
      {children}
    </ConfirmDialog>
  );
}
