import { useQueryClient } from "@tanstack/react-query";
import type { Price } from "../../../../server/domain/api-types/console.ts";
import { pricesQuery, setPrice } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Field } from "../../ui/forms/field.tsx";

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
  cached_input: "Empty: same as input.",
  context_window: "In tokens.",
};

const rules: Partial<Record<Figure, string>> = { context_window: "A whole number above 0." };

/** Form that sets a model's price; null for a model missing in the list. */
export function SetPrice({ price, onClose }: { price: Price | null; onClose: () => void }) {
  const client = useQueryClient();
  const form = useForm({
    first: () => ({
      model: price?.id ?? "",
      input: text(price?.input),
      cached_input: text(price?.cached_input),
      output: text(price?.output),
      context_window: text(price?.context_window),
    }),
    check: (draft) => {
      const numbers = numbersOf(draft);
      const wrong = figures.filter((figure) => !isFigure(numbers[figure], figure));
      return Object.fromEntries(wrong.map((figure) => [figure, rules[figure] ?? "A number, 0 or more."]));
    },
    send: (draft) => {
      const { input, cached_input, output, context_window } = numbersOf(draft);
      return setPrice({
        model: draft.model.trim(),
        input: Number(input),
        cached_input: Number(cached_input),
        output: Number(output),
        context_window: context_window.trim() ? Number(context_window) : null,
      });
    },
    onSent: async (_, { model }) => {
      await client.invalidateQueries(pricesQuery);
      onClose();
      toast("Price set", model);
    },
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Set price"
      about="For all projects. Applies to runs that start from now on; earlier runs keep their prices."
      act="Set price"
      acting="Setting price"
      ready={form.draft.model.trim() !== ""}
      failed="The price was not set"
    >
      <Field
        label="Model"
        hint="Such as openai/gpt-5, or ollama/* for all models of your own server."
        readOnly={price !== null}
        autoComplete="off"
        spellCheck={false}
        {...form.text("model")}
      />
      <div className="grid gap-4 rail:grid-cols-2">
        {figures.map((figure) => (
          <Field
            key={figure}
            label={labels[figure]}
            hint={hints[figure]}
            inputMode="decimal"
            autoComplete="off"
            className="text-right tabular-nums"
            {...form.text(figure)}
          />
        ))}
      </div>
    </FormDialog>
  );
}

/** Cached input defaults to the price of input. */
const numbersOf = (draft: Record<Figure, string>): Record<Figure, string> => ({
  ...draft,
  cached_input: draft.cached_input.trim() || draft.input,
});

const text = (value: number | null | undefined): string => (value == null ? "" : String(value));

function isFigure(written: string, figure: Figure): boolean {
  const value = written.trim();
  if (figure === "context_window") return value === "" || /^[1-9]\d{0,7}$/.test(value);
  return /^\d{1,6}(\.\d{1,9})?$/.test(value);
}
