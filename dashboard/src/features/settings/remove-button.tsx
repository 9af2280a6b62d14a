import type { QueryFilters } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { capital } from "../../lib/format.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Removes a row's object after explaining the effects. */
export function RemoveButton({
  noun,
  name,
  disabled,
  remove,
  stale,
  children,
}: {
  /** Label: “connection”. */
  noun: string;
  name: string;
  disabled: boolean;
  remove: () => Promise<unknown>;
  /** Queries to invalidate afterwards. */
  stale: readonly QueryFilters[];
  /** Explanation of the effects. */
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button
        kind="danger-quiet"
        size="sm"
        disabled={disabled}
        aria-label={`Remove ${name}`}
        onClick={() => setOpen(true)}
      >
        Remove
      </Button>
      {open && (
        <ActionDialog
          title={`Remove ${name}`}
          act={`Remove ${noun}`}
          acting="Removing"
          refused={`The ${noun} was not removed`}
          run={remove}
          stale={stale}
          onClose={() => setOpen(false)}
          onDone={() => toast(`${capital(noun)} removed`, name)}
        >
          {children}
        </ActionDialog>
      )}
    </>
  );
}
