import { type QueryFilters, useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useState } from "react";
import { ConfirmDialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";
import { toast } from "./toast.ts";

/** Asks before something is deleted, and names the effect. With `typed`, its name has to be written first. */
export function DeleteDialog({
  noun,
  name,
  typed = false,
  told = name,
  busy = false,
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
  const isBusy = busy || deletion.isPending;
  const [text, setText] = useState("");
  const sure = !isBusy && (!typed || text.trim() === name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    event.stopPropagation();
    if (sure) deletion.mutate();
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title={`Delete ${name}`}
      act={isBusy ? "Deleting" : `Delete ${noun}`}
      keep="Keep it"
      busy={!sure}
      onConfirm={() => deletion.mutate()}
    >
      <form onSubmit={submit} className="flex flex-col gap-4 wrap-anywhere">
        <div>{children}</div>
        {typed && (
          <Field
            label={`Type ${name} to go on`}
            value={text}
            onChange={(event) => setText(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {deletion.error && <ErrorNote title={`The ${noun} was not deleted`} error={deletion.error} />}
      </form>
    </ConfirmDialog>
  );
}
