import { Upload } from "lucide-react";
import { lazy, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { LoadedPart } from "../../ui/loaded-part.tsx";
import { useMay } from "../session/use-may.ts";

const ImportDialog = lazy(() => import("./import-dialog.tsx").then((loaded) => ({ default: loaded.ImportDialog })));

/** The way to take in a run that happened elsewhere. */
export function ImportRun({ onOpenRun }: { onOpenRun: (runId: string) => void }) {
  const may = useMay("member");
  const [open, setOpen] = useState(false);
  if (!may) return null;
  return (
    <>
      <Button kind="ghost" onClick={() => setOpen(true)}>
        <Upload aria-hidden className="size-4" strokeWidth={1.5} />
        Import
      </Button>
      {open && (
        <LoadedPart>
          <ImportDialog onClose={() => setOpen(false)} onOpenRun={onOpenRun} />
        </LoadedPart>
      )}
    </>
  );
}
