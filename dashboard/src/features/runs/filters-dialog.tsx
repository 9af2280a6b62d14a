import { useQuery } from "@tanstack/react-query";
import { runErrorCodes } from "../../../../server/domain/errors.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { runTriggers } from "../../../../server/domain/run-trigger.ts";
import { modelsQuery } from "../../entities/model/model-api.ts";
import { isRange, type RunFilters, readRange, writeRange } from "../../entities/run/runs-search.ts";
import { toolApi } from "../../entities/tool/tool-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { readId } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { TextArea } from "../../ui/forms/text-area.tsx";
import { originWords } from "./filter-words.ts";

const any = { value: "", label: "Any" };
const codeChoices = [any, ...runErrorCodes.map((code) => ({ value: code as string, label: code }))];
const originChoices = [any, ...runTriggers.map((origin) => ({ value: origin as string, label: originWords[origin] }))];

/** Dialog for all filters except status, agent and time. */
export function FiltersDialog({
  filters,
  onFilter,
  onClose,
}: {
  filters: RunFilters;
  onFilter: (change: RunFilters) => void;
  onClose: () => void;
}) {
  const at = useWorkspace();
  const { data: models } = useQuery(modelsQuery(at));
  const { data: tools } = useQuery(toolApi.every(at));
  const form = useForm({
    first: () => draftOf(filters),
    check: faultsOf,
    send: async (draft) => {
      onClose();
      onFilter(filtersOfDraft(draft));
    },
  });
  return (
    <FormDialog form={{ ...form, isUnsaved: false }} onClose={onClose} title="Filters" act="Show runs" wide>
      <div className="grid gap-4 rail:grid-cols-2">
        <Select label="Error code" {...form.pick("error")} choices={codeChoices} />
        <Combobox
          label="Model"
          {...form.suggest("model")}
          items={(models?.data ?? []).map(({ id }) => ({ value: id }))}
        />
        <Combobox
          label="Tool"
          hint="Runs that called this tool."
          {...form.suggest("tool")}
          items={(tools ?? []).map(({ name }) => ({ value: name }))}
        />
        <Select label="Origin" {...form.pick("origin")} choices={originChoices} />
        <Field
          label="User"
          hint="The user_id that your application gave the run."
          maxLength={limits.subject_length}
          autoComplete="off"
          spellCheck={false}
          {...form.text("user")}
        />
        <Field label="Thread" placeholder="thr_…" autoComplete="off" spellCheck={false} {...form.text("thread")} />
        <Range label="Cost, USD" from={form.text("costMin")} to={form.text("costMax")} />
        <Range label="Duration, seconds" from={form.text("secondsMin")} to={form.text("secondsMax")} />
        <Field label="Score" hint="Name of the score." autoComplete="off" spellCheck={false} {...form.text("score")} />
        <Range label="Score, value" from={form.text("valueMin")} to={form.text("valueMax")} />
      </div>
      <TextArea
        label="Metadata"
        hint="A pair on each line: order=4711"
        rows={2}
        spellCheck={false}
        {...form.text("metadata")}
      />
    </FormDialog>
  );
}

type End = ReturnType<ReturnType<typeof useForm<Draft, void>>["text"]>;

function Range({ label, from, to }: { label: string; from: End; to: End }) {
  return (
    <div className="grid grid-cols-2 gap-2">
      <Field label={`${label}: min`} inputMode="decimal" autoComplete="off" {...from} />
      <Field label="Max" aria-label={`${label}: max`} inputMode="decimal" autoComplete="off" {...to} />
    </div>
  );
}

/** Form state of the filters as text. */
interface Draft {
  error: string;
  model: string;
  tool: string;
  origin: string;
  user: string;
  thread: string;
  costMin: string;
  costMax: string;
  secondsMin: string;
  secondsMax: string;
  score: string;
  valueMin: string;
  valueMax: string;
  metadata: string;
}

/** Converts filters to form state. */
export function draftOf(filters: RunFilters): Draft {
  const { error = "", model = "", tool = "", origin = "", user = "", thread = "", score = "", metadata = [] } = filters;
  const { min: costMin = "", max: costMax = "" } = readRange(filters.cost);
  const { min: valueMin = "", max: valueMax = "" } = readRange(filters.value);
  const took = readRange(filters.duration);
  return {
    error,
    model,
    tool,
    origin,
    user,
    thread,
    score,
    costMin,
    costMax,
    valueMin,
    valueMax,
    secondsMin: took.min ? String(Number(took.min) / 1000) : "",
    secondsMax: took.max ? String(Number(took.max) / 1000) : "",
    metadata: metadata.join("\n"),
  };
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

/** Converts form state to filters. Includes all fields, so that an emptied one is removed. */
export function filtersOfDraft(draft: Draft): RunFilters {
  const text = (value: string) => value.trim() || undefined;
  const ms = (seconds: string) => (seconds.trim() ? String(Math.round(Number(seconds) * 1000)) : "");
  const pairs = linesOf(draft.metadata);
  return {
    error: text(draft.error),
    model: text(draft.model),
    tool: text(draft.tool),
    origin: text(draft.origin) as RunFilters["origin"],
    user: text(draft.user),
    thread: text(draft.thread),
    cost: writeRange(draft.costMin.trim(), draft.costMax.trim()),
    duration: writeRange(ms(draft.secondsMin), ms(draft.secondsMax)),
    score: text(draft.score),
    value: writeRange(draft.valueMin.trim(), draft.valueMax.trim()),
    metadata: pairs.length > 0 ? pairs : undefined,
  };
}

function faultsOf(draft: Draft): Partial<Record<keyof Draft, string | null>> {
  const number = (text: string, least = Number.NEGATIVE_INFINITY) =>
    text.trim() === "" || (isRange(`${text.trim()}..`) && Number(text) >= least) ? null : "Must be a number.";
  const end = (min: string, max: string, least?: number) =>
    number(max, least) ??
    (min.trim() && max.trim() && Number(max) < Number(min) ? "Must not be less than the min." : null);
  return {
    thread:
      draft.thread.trim() && !readId(draft.thread.trim(), "thread")
        ? "The id of a thread begins with thr_ and has 30 characters."
        : null,
    costMin: number(draft.costMin, 0),
    costMax: end(draft.costMin, draft.costMax, 0),
    secondsMin: number(draft.secondsMin, 0),
    secondsMax: end(draft.secondsMin, draft.secondsMax, 0),
    valueMin: number(draft.valueMin),
    valueMax: end(draft.valueMin, draft.valueMax),
    metadata: linesOf(draft.metadata).every((line) => line.indexOf("=") > 0) ? null : "Write each pair as name=value.",
  };
}
