import { Upload } from "lucide-react";
import { lazy, useRef, useState } from "react";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";
import { type Bundle, readBundle } from "./bundle.ts";

const CarryDialog = lazy(() => import("./carry-dialog.tsx").then((loaded) => ({ default: loaded.CopyDialog })));

/** Opens an exported agent or tool and previews the changes before creating anything. */
export function ImportBundle() {
  const may = usePermission("member");
  const input = useRef<HTMLInputElement>(null);
  const [bundle, setBundle] = useState<Bundle | null>(null);
  if (!may) return null;
  const take = async (file: File | undefined) => {
    if (!file) return;
    const read = readBundle(await file.text());
    if (typeof read === "string") toastFailure("Not imported", read);
    else setBundle(read);
    if (input.current) input.current.value = "";
  };
  return (
    <>
      <input
        ref={input}
        type="file"
        accept=".json,application/json"
        aria-label="Exported file"
        hidden
        onChange={(event) => void take(event.target.files?.[0])}
      />
      <Button kind="ghost" onClick={() => input.current?.click()}>
        <Upload aria-hidden className="size-4" strokeWidth={1.5} />
        Import
      </Button>
      {bundle && (
        <LazyBoundary>
          <CarryDialog bundle={bundle} isImport onClose={() => setBundle(null)} />
        </LazyBoundary>
      )}
    </>
  );
}
