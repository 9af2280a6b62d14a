import type { ReactNode } from "react";
import { usePermission } from "../../entities/session/use-may.ts";
import { Callout } from "../../ui/feedback/callout.tsx";

/** Settings that only owners may change; other people see them read-only, with an explanation. */
export function OwnersOnly({ what, children }: { what: string; children: ReactNode }) {
  const may = usePermission("owner");
  return (
    <>
      {!may && (
        <div className="pt-4">
          <Callout tone="info">{what} are changed by owners. You can read them here.</Callout>
        </div>
      )}
      <fieldset disabled={!may} className="min-w-0">
        {children}
      </fieldset>
    </>
  );
}
