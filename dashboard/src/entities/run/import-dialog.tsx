import type { Trace } from "../../../../server/domain/api-types/trace.ts";
import { useForm } from "../../hooks/use-form.ts";
import { postFile, resourceUrl } from "../../lib/api.ts";
import { formatBytes } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Dropzone } from "../../ui/forms/dropzone.tsx";
import { useRefresh } from "../crud/use-refresh.ts";
import { runApi } from "./run-api.ts";
import { traceFileFault, traceType } from "./trace-file.ts";

interface Draft {
  file: File | null;
}

/** Dialog that imports a run from an exported trace or a capsule. */
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
      <Dropzone
        label="Trace or capsule"
        text={file ? `${file.name}, ${formatBytes(file.size)}` : "Drop a file here, or"}
        act={file ? "Choose another file" : "Choose file"}
        error={form.fieldErrors.file}
        onFiles={([next]) => form.set({ file: next! })}
      />
    </FormDialog>
  );
}
