import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { toast } from "../../ui/toast.ts";

/** Removes what a row shows, after saying what that ends. */
export function RemoveButton({
  noun,
  name,
  keep,
  disabled,
  remove,
  onRemoved,
  children,
}: {
  /** “connection”. */
  noun: string;
  name: string;
  /** “Keep it”. */
  keep: string;
  disabled: boolean;
  remove: () => Promise<unknown>;
  onRemoved: () => Promise<unknown>;
  /** The effect. */
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const removing = useMutation({
    mutationFn: remove,
    onSuccess: async () => {
      setOpen(false);
      toast(`${noun[0]?.toUpperCase()}${noun.slice(1)} removed`, name);
      await onRemoved();
    },
  });
  return (
    <>
      <Button
        kind="danger-quiet"
        size="sm"
        disabled={disabled}
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
        title={`Remove ${name}`}
        act={`Remove ${noun}`}
        acting="Removing"
        keep={keep}
        doing={removing}
        refused={`The ${noun} was not removed`}
        onConfirm={() => removing.mutate()}
        onClose={() => setOpen(false)}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
