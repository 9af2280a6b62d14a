import type { ComponentProps } from "react";
import { capital } from "../../lib/format.ts";
import { toast } from "../feedback/toast.ts";
import { ActionDialog } from "./action-dialog.tsx";

type DeleteDialogProps = ComponentProps<typeof ActionDialog<unknown>>;

/** Confirms a deletion and explains its effects. With `typed`, the name must be typed first. */
export function DeleteDialog({
  noun,
  name,
  typed = false,
  told = name,
  remove,
  onDeleted,
  ...asked
}: Pick<DeleteDialogProps, "busy" | "gone" | "stale" | "explain" | "children" | "onClose"> & {
  /** Singular name: “agent”. */
  noun: string;
  name: string;
  /** Requires typing the name, for deletions that break live use. */
  typed?: boolean;
  /** Text of the success message; none if empty. */
  told?: string;
  remove: () => Promise<unknown>;
  onDeleted?: () => void;
}) {
  return (
    <ActionDialog
      {...asked}
      title={`Delete ${name}`}
      act={`Delete ${noun}`}
      acting="Deleting"
      typed={typed ? name : undefined}
      refused={`The ${noun} was not deleted`}
      run={remove}
      onDone={() => {
        toast(`${capital(noun)} deleted`, told || undefined);
        onDeleted?.();
      }}
    />
  );
}
