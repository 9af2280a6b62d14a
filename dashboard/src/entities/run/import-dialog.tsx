import { FileUp } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import type { Trace } from "../../../../server/wire/trace.ts";
import { postFile, resourceUrl } from "../../lib/api.ts";
import { formatBytes } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { useRefresh } from "../resource/use-refresh.ts";
import { runApi } from "./run-api.ts";
import { traceFileFault, traceType } from "./trace-file.ts";

interface Draft {
  file: File | null;
}

/** Takes in a run that happened elsewhere: an exported trace, or a capsule. */
export function ImportDialog({ onClose, onOpenRun }: { onClose: () => void; onOpenRun: (runId: string) => void }) {
  const at = useWorkspace();
  const refresh = useRefresh(runApi);
  const form = useForm<Draft, Trace>({
    first: { file: null },
    check: ({ file }) => ({ file: traceFileFault(file) }),
    blame: (error) => ({ faults: { file: error.message }, rest: [] }),
    send: async ({ file }) => postFile<Trace>(resourceUrl(at, "/traces"), file!, await traceType(file!)),
    onSent: async ({ run_id }) => {
      toast("Run imported", "You can look at it, replay it and fork it.");
      onClose();
      onOpenRun(run_id);
      await refresh();
    },
  });
  const { file } = form.draft;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Import run"
      about="An exported trace as JSON, or a capsule. Nothing in it is executed."
      act="Import run"
      acting="Importing"
    >
      <FilePicker file={file} error={form.faults.file} onFile={(next) => form.set({ file: next })} />
    </FormDialog>
  );
}

function FilePicker({
  file,
  error,
  onFile,
}: {
  file: File | null;
  error: string | null | undefined;
  onFile: (file: File) => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const take = (files: FileList | null) => {
    setOver(false);
    if (files?.[0]) onFile(files[0]);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    event.stopPropagation();
    take(event.dataTransfer.files);
  };
  return (
    <div className="flex flex-col gap-2">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button within does the same by keyboard. */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={onDrop}
        data-over={over}
        className="flex flex-col items-center gap-2 rounded-md border border-dashed border-line-control bg-subtle px-4 py-5 text-center data-[over=true]:border-accent data-[over=true]:bg-accent-soft"
      >
        <FileUp aria-hidden className="size-6 text-muted" strokeWidth={1.2} />
        <span className="max-w-full text-muted wrap-anywhere">
          {file ? `${file.name}, ${formatBytes(file.size)}` : "Drop a file here, or"}
        </span>
        <Button onClick={() => picker.current?.click()} autoFocus aria-describedby={error ? "import-fault" : undefined}>
          {file ? "Choose another file" : "Choose file"}
        </Button>
        <input
          ref={picker}
          type="file"
          aria-label="Trace or capsule"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => {
            take(event.target.files);
            event.target.value = "";
          }}
        />
      </div>
      {error && (
        <p id="import-fault" role="alert" className="text-xs text-bad wrap-anywhere">
          {error}
        </p>
      )}
    </div>
  );
}
