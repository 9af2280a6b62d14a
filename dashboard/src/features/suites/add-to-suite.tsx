import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { addCases, suiteApi, suiteQuery } from "../../entities/suite/suite-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { canBePinned } from "./cases.ts";

const newOne = "new";

/** Adds runs selected elsewhere to an existing or a new suite. */
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
  const refresh = useRefresh(suiteApi);
  const { data: suites, error } = useQuery(suiteApi.every(at));
  const [chosen, setChosen] = useState<string | null>(null);
  // Fixes the default once loaded: a suite created elsewhere meanwhile does not change it.
  if (chosen === null && (suites || error)) setChosen(suites?.[0]?.id ?? newOne);
  const isNew = chosen === newOne;
  const target = useQuery({ ...suiteQuery(at, chosen ?? ""), enabled: chosen !== null && !isNew });
  const able = runs.filter(canBePinned).map(({ id }) => id);
  const pinned = new Set(isNew ? [] : target.data?.cases.map(({ run_id }) => run_id));
  const ids = able.filter((id) => !pinned.has(id));
  const isKnown = isNew || target.data !== undefined;
  const form = useForm({
    first: { name: "" },
    send: ({ name }) => (isNew ? suiteApi.create(at, { name: name.trim(), run_ids: ids }) : addCases(at, chosen!, ids)),
    onSent: async (suite) => {
      toast(isNew ? "Suite created" : `${plural(ids.length, "case")} added`, suite.name);
      onClose();
      onDone(suite.id);
      await refresh();
    },
  });
  const shownError = error ?? (isNew ? null : target.error);
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={`Add ${runs.length === 1 ? "run" : plural(runs.length, "run")} to suite`}
      about="A suite keeps its runs and shows which results would change after an agent has changed."
      act={isNew ? "Create suite" : ids.length > 0 ? `Add ${plural(ids.length, "case")}` : "Add cases"}
      acting="Adding"
      ready={isKnown && ids.length > 0 && !(isNew && form.draft.name.trim() === "")}
      failed="The runs were not added"
    >
      {able.length < runs.length && (
        <Callout tone={able.length === 0 ? "bad" : "warn"}>
          {able.length === 0
            ? "None of them can be added"
            : `${plural(able.length, "run")} of ${runs.length} can be added`}
          : a run must have ended and still have its trace.
        </Callout>
      )}
      {ids.length < able.length && (
        <Callout tone="warn">
          {ids.length === 0
            ? `The suite has ${able.length === 1 ? "it" : "them"} already.`
            : `The suite has ${able.length - ids.length} of them already.`}
        </Callout>
      )}
      {chosen === null ? (
        <div role="status" aria-label="Loading suites">
          <Skeleton className="w-2/3" />
        </div>
      ) : (
        <Select
          label="Suite"
          value={chosen}
          choices={[
            ...(suites ?? []).map((suite) => ({
              value: suite.id,
              label: `${suite.name} (${plural(suite.cases_count, "case")})`,
            })),
            { value: newOne, label: "A new suite" },
          ]}
          onChoose={setChosen}
        />
      )}
      {isNew && (
        <Field
          label="Name of the new suite"
          hint="CI refers to the suite by its name. Short and without spaces is best."
          maxLength={limits.name_length}
          autoComplete="off"
          {...form.text("name")}
        />
      )}
      <ErrorNote title="The suites cannot be shown" error={shownError} />
    </FormDialog>
  );
}
