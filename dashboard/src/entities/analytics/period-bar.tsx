import { useState } from "react";
import { useForm } from "../../hooks/use-form.ts";
import { useToday } from "../../hooks/use-now.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { daysOf, type PeriodSearch, rangeFault, rangeWords } from "./period.ts";

const choices = [
  { value: "today", label: "Today" },
  { value: "7d", label: "7 days" },
  { value: "30d", label: "30 days" },
] as const;

/** Period picker of charts: a period that ends today, or a custom range of days. */
export function PeriodBar({ search, onPeriod }: { search: PeriodSearch; onPeriod: (period: PeriodSearch) => void }) {
  const [isRangeOpen, setIsRangeOpen] = useState(false);
  const { period = "7d", from, to } = search;
  const isCustom = from !== undefined && to !== undefined;
  return (
    <>
      <SegmentedControl
        name="period"
        label="Period"
        choices={choices}
        chosen={isCustom ? ("" as typeof period) : period}
        onChoose={(chosen) => onPeriod({ period: chosen })}
      />
      <Button aria-pressed={isCustom} onClick={() => setIsRangeOpen(true)}>
        {isCustom ? rangeWords(from, to) : "Custom range"}
      </Button>
      {isRangeOpen && <RangeDialog search={search} onPeriod={onPeriod} onClose={() => setIsRangeOpen(false)} />}
    </>
  );
}

function RangeDialog({
  search,
  onPeriod,
  onClose,
}: {
  search: PeriodSearch;
  onPeriod: (period: PeriodSearch) => void;
  onClose: () => void;
}) {
  const today = useToday();
  const form = useForm({
    first: () => {
      const days = daysOf(search, today);
      return { from: days[0]!, to: days.at(-1)! };
    },
    check: ({ from, to }) => ({ to: rangeFault(from, to) }),
    send: async ({ from, to }) => {
      onClose();
      onPeriod({ from, to });
    },
  });
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Custom range"
      about="Days in UTC, first and last included."
      act="Show range"
    >
      <div className="grid gap-4 rail:grid-cols-2">
        <Field label="From" type="date" max={today} {...form.text("from")} />
        <Field label="To" type="date" max={today} {...form.text("to")} />
      </div>
    </FormDialog>
  );
}
