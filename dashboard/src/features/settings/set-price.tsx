import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Price } from "../../../../server/wire/console.ts";
import { pricesQuery, setPrice } from "../../entities/server/server-api.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.ts";

const labels = {
  input: "Input",
  cached_input: "Cached input (optional)",
  output: "Output",
  context_window: "Context window (optional)",
} as const;
type Figure = keyof typeof labels;
const figures = Object.keys(labels) as Figure[];
const hints: Partial<Record<Figure, string>> = {
  input: "USD per million tokens.",
  cached_input: "Empty: as input.",
  context_window: "In tokens.",
};

/** Says what a model costs; null for one that the list does not have. */
export function SetPrice({ price, onClose }: { price: Price | null; onClose: () => void }) {
  const client = useQueryClient();
  const [model, setModel] = useState(price?.id ?? "");
  const [texts, setTexts] = useState<Record<Figure, string>>({
    ...{ input: text(price?.input), cached_input: text(price?.cached_input) },
    ...{ output: text(price?.output), context_window: text(price?.context_window) },
  });
  const [checked, setChecked] = useState(false);
  const saving = useMutation({
    mutationFn: setPrice,
    onSuccess: async () => {
      await client.invalidateQueries(pricesQuery);
      onClose();
      toast("Price set", model);
    },
  });
  const numbers = { ...texts, cached_input: texts.cached_input.trim() || texts.input };
  const faultAt = (figure: Figure) =>
    checked && !isFigure(numbers[figure], figure)
      ? figure === "context_window"
        ? "A whole number above 0."
        : "A number from 0 on."
      : faultOf(saving.error, figure);
  const submit = () => {
    setChecked(true);
    if (!figures.every((figure) => isFigure(numbers[figure], figure))) return;
    const [input, cached_input, output] = [numbers.input, numbers.cached_input, numbers.output].map(Number) as [
      number,
      number,
      number,
    ];
    const context_window = numbers.context_window.trim() ? Number(numbers.context_window) : null;
    saving.mutate({ model: model.trim(), input, cached_input, output, context_window });
  };
  const fault = faultOf(saving.error, "model");
  const unsaved = useChanged([model, texts]) && !saving.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => !open && onClose()}
      title="Set price"
      about="For all projects. Runs that begin from now on are counted by it; earlier ones keep theirs."
      act={saving.isPending ? "Setting price" : "Set price"}
      busy={saving.isPending || model.trim() === ""}
      onSubmit={submit}
    >
      <Field
        label="Model"
        hint="Such as openai/gpt-5, or ollama/* for all of a server of your own."
        value={model}
        readOnly={price !== null}
        onChange={(event) => {
          setModel(event.target.value);
          saving.reset();
        }}
        error={fault}
        autoComplete="off"
        spellCheck={false}
      />
      <div className="grid gap-4 rail:grid-cols-2">
        {figures.map((figure) => (
          <Field
            key={figure}
            label={labels[figure]}
            hint={hints[figure]}
            value={texts[figure]}
            onChange={(event) => setTexts({ ...texts, [figure]: event.target.value })}
            error={faultAt(figure)}
            inputMode="decimal"
            autoComplete="off"
            className="text-right tabular-nums"
          />
        ))}
      </div>
      {saving.error && !fault && <ErrorNote title="The price was not set" error={saving.error} />}
    </FormDialog>
  );
}

const text = (value: number | null | undefined): string => (value == null ? "" : String(value));

function isFigure(written: string, figure: Figure): boolean {
  const value = written.trim();
  if (figure === "context_window") return value === "" || /^[1-9]\d{0,7}$/.test(value);
  return /^\d{1,6}(\.\d{1,9})?$/.test(value);
}
