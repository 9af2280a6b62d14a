import type { ReactNode } from "react";
import { useMay } from "../../entities/session/use-may.ts";
import { Note } from "../../ui/note.tsx";

/** What owners alone change. Others read it, and are told why they cannot change it. */
export function OwnersOnly({ what, children }: { what: string; children: ReactNode }) {
  const may = useMay("owner");
  return (
    <>
      {!may && (
        <div className="pt-4">
          <Note tone="info">{what} are changed by owners. You can read them here.</Note>
        </div>
      )}
      <fieldset disabled={!may} className="min-w-0">
        {children}
      </fieldset>
    </>
  );
}
