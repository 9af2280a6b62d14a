import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Person, peopleQuery, removePerson } from "./server-api.ts";

interface RemovePersonProps {
  person: Person;
  isSelf: boolean;
  disabled: boolean;
}

/** Ends somebody's account, after saying what stays. */
export function RemovePerson({ person: { id, email }, isSelf, disabled }: RemovePersonProps) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const removing = useMutation({
    mutationFn: () => removePerson(id),
    onSuccess: async () => {
      setOpen(false);
      toast("Person removed", email);
      await Promise.all([client.invalidateQueries(peopleQuery), client.invalidateQueries({ queryKey: ["session"] })]);
    },
  });
  return (
    <>
      <Button
        kind="danger-quiet"
        size="sm"
        disabled={disabled}
        aria-label={`Remove ${email}`}
        onClick={() => {
          removing.reset();
          setOpen(true);
        }}
      >
        Remove
      </Button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title={`Remove ${email}`}
        act={removing.isPending ? "Removing" : "Remove person"}
        keep="Keep the account"
        busy={removing.isPending}
        onConfirm={() => removing.mutate()}
      >
        <p>
          {isSelf ? "This is you: you are signed out at once and cannot sign in again." : "The sessions end at once."}{" "}
          API keys that were made go on working, and what was done stays in the audit log.
        </p>
        {removing.error && (
          <div className="mt-3">
            <ErrorNote title="The person was not removed" error={removing.error} />
          </div>
        )}
      </ConfirmDialog>
    </>
  );
}
