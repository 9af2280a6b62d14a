import type { Trace } from "../../../../server/wire/trace.ts";
import { postFile, resourceUrl } from "../../lib/api.ts";
import { formatBytes } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DropArea } from "../../ui/drop-area.tsx";
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
      toast("Run imported", "You can view, replay and fork it.");
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
      about="An exported trace (JSON) or a capsule. Importing executes nothing."
      act="Import run"
      acting="Importing"
    >
      <DropArea
        label="Trace or capsule"
        text={file ? `${file.name}, ${formatBytes(file.size)}` : "Drop a file here, or"}
        act={file ? "Choose another file" : "Choose file"}
        error={form.faults.file}
        onFiles={([next]) => form.set({ file: next! })}
      />
    </FormDialog>
  );
}
