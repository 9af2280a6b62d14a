import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { faultOf } from "../../lib/fault-of.ts";
import { plural } from "../../lib/format.ts";
import { isOver, type Run } from "../../lib/types.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { Select } from "../../ui/select.tsx";
import { toast } from "../../ui/toast.ts";
import { useRefreshSuites } from "./suite-acts.ts";
import { addCases, allSuitesQuery, createSuite } from "./suites-api.ts";

const newOne = "new";

/** Pins runs that were chosen elsewhere, by a suite that is there or by a new one. */
export function AddToSuite({
  runs,
  onClose,
  onDone,
}: {
  runs: readonly Run[];
  onClose: () => void;
  onDone: (suiteId: string) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefreshSuites();
  const { data: suites, error } = useQuery(allSuitesQuery(at));
  const [chosen, setChosen] = useState<string | null>(null);
  const [name, setName] = useState("");
  const suiteId = chosen ?? suites?.[0]?.id ?? newOne;
  const isNew = suiteId === newOne;
  const ids = runs.filter(({ status, trace_id }) => isOver(status) && trace_id !== null).map(({ id }) => id);
  const pin = useMutation({
    mutationFn: () => (isNew ? createSuite(at, { name: name.trim(), run_ids: ids }) : addCases(at, suiteId, ids)),
    onSuccess: async (suite) => {
      toast(isNew ? "Suite created" : `${plural(ids.length, "case")} added`, suite.name);
      onClose();
      onDone(suite.id);
      await refresh();
    },
  });
  const nameFault = isNew ? faultOf(pin.error, "name") : null;
  const count = plural(ids.length, "run");
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Add ${runs.length === 1 ? "run" : plural(runs.length, "run")} to suite`}
      about="A suite keeps its runs, and tells after a change of their agents which would come out otherwise."
      act={pin.isPending ? "Adding" : isNew ? "Create suite" : `Add ${count}`}
      busy={pin.isPending || ids.length === 0 || (isNew && name.trim() === "") || !(suites || error)}
      onSubmit={() => pin.mutate()}
    >
      {ids.length < runs.length && (
        <Note tone={ids.length === 0 ? "bad" : "warn"}>
          {ids.length === 0 ? "None of them can be pinned" : `${count} of ${runs.length} can be pinned`}: a run has to
          be over, and to have its trace.
        </Note>
      )}
      <Select
        label="Suite"
        value={suiteId}
        choices={[
          ...(suites ?? []).map((suite) => ({
            value: suite.id,
            label: `${suite.name} (${plural(suite.cases_count, "case")})`,
          })),
          { value: newOne, label: "A new suite" },
        ]}
        onChoose={setChosen}
      />
      {isNew && (
        <Field
          label="Name of the new suite"
          hint="Builds call it by its name: short and without blanks is best."
          value={name}
          maxLength={128}
          autoComplete="off"
          error={nameFault}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      {error && <ErrorNote title="The suites cannot be shown" error={error} />}
      {pin.error && !nameFault && <ErrorNote title="The runs were not pinned" error={pin.error} />}
    </FormDialog>
  );
}
