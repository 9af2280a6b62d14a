import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.tsx";
import { type Connection, connectionsQuery, pricesQuery, removeConnection } from "./server-api.ts";

/** Removes a stored connection, after saying what that ends. */
export function RemoveConnection({ connection: { name, prefix }, may }: { connection: Connection; may: boolean }) {
  const [open, setOpen] = useState(false);
  const client = useQueryClient();
  const removing = useMutation({
    mutationFn: () => removeConnection(name),
    onSuccess: async () => {
      setOpen(false);
      toast("Connection removed", name);
      await Promise.all([client.invalidateQueries(connectionsQuery), client.invalidateQueries(pricesQuery)]);
    },
  });
  return (
    <>
      <Button
        kind="danger-quiet"
        size="sm"
        disabled={!may}
        aria-label={`Remove ${name}`}
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
        title={`Remove ${name}`}
        act={removing.isPending ? "Removing" : "Remove connection"}
        keep="Keep it"
        busy={removing.isPending}
        onConfirm={() => removing.mutate()}
      >
        <p>
          Runs of agents with a model <code>{prefix}/…</code> fail from their next model call on, unless the environment
          has a connection of this name. The stored key is deleted.
        </p>
        {removing.error && (
          <div className="mt-3">
            <ErrorNote title="The connection was not removed" error={removing.error} />
          </div>
        )}
      </ConfirmDialog>
    </>
  );
}
