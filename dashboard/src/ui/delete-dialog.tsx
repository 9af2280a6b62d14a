import type { ComponentProps } from "react";
import { capital } from "../lib/format.ts";
import { ActDialog } from "./act-dialog.tsx";
import { toast } from "./toast.ts";

type Asked = ComponentProps<typeof ActDialog<unknown>>;

/** Asks before something is deleted, and names the effect. With `typed`, its name has to be written first. */
export function DeleteDialog({
  noun,
  name,
  typed = false,
  told = name,
  remove,
  onDeleted,
  ...asked
}: Pick<Asked, "busy" | "gone" | "stale" | "explain" | "children" | "onClose"> & {
  /** “agent”. */
  noun: string;
  name: string;
  /** For what breaks others in live. */
  typed?: boolean;
  /** What the message of success names; none if empty. */
  told?: string;
  remove: () => Promise<unknown>;
  onDeleted?: () => void;
}) {
  return (
    <ActDialog
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
