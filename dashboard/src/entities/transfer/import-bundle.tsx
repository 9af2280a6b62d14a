import { Upload } from "lucide-react";
import { lazy, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { LoadedPart } from "../../ui/loaded-part.tsx";
import { failed } from "../../ui/toast.ts";
import { useMay } from "../session/use-may.ts";
import { type Bundle, readBundle } from "./bundle.ts";

const CarryDialog = lazy(() => import("./carry-dialog.tsx").then((loaded) => ({ default: loaded.CarryDialog })));

/** Reads an exported agent or tool from a file, and shows what it would change before anything is made. */
export function ImportBundle() {
  const may = useMay("member");
  const input = useRef<HTMLInputElement>(null);
  const [bundle, setBundle] = useState<Bundle | null>(null);
  if (!may) return null;
  const take = async (file: File | undefined) => {
    if (!file) return;
    const read = readBundle(await file.text());
    if (typeof read === "string") failed("Not imported", read);
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
        <LoadedPart>
          <CarryDialog bundle={bundle} isImport onClose={() => setBundle(null)} />
        </LoadedPart>
      )}
    </>
  );
}
