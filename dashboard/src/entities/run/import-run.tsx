import { Upload } from "lucide-react";
import { lazy, useState } from "react";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";

const ImportDialog = lazy(() => import("./import-dialog.tsx").then((loaded) => ({ default: loaded.ImportDialog })));

/** Button that opens the run import. */
export function ImportRun({ onOpenRun }: { onOpenRun: (runId: string) => void }) {
  const may = usePermission("member");
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <Button kind="ghost" onClick={() => setOpen(true)}>
        <Upload aria-hidden className="size-4" strokeWidth={1.5} />
        Import
      </Button>
      {open && (
        <LazyBoundary>
          <ImportDialog onClose={() => setOpen(false)} onOpenRun={onOpenRun} />
        </LazyBoundary>
      )}
    </>
  );
}
