import type { QueryFilters } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { capital } from "../../lib/format.ts";
import { ActDialog } from "../../ui/act-dialog.tsx";
import { Button } from "../../ui/button.tsx";
import { toast } from "../../ui/toast.ts";

/** Removes what a row shows, after saying what that ends. */
export function RemoveButton({
  noun,
  name,
  disabled,
  remove,
  stale,
  children,
}: {
  /** “connection”. */
  noun: string;
  name: string;
  disabled: boolean;
  remove: () => Promise<unknown>;
  /** What is out of date then. */
  stale: readonly QueryFilters[];
  /** The effect. */
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
        <ActDialog
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
        </ActDialog>
      )}
    </>
  );
}
