import { Plus } from "lucide-react";
import { useState } from "react";
import {
  fieldTime,
  isSpan,
  spanStart,
  spanWords,
  type TimeSpan,
  timeSpans,
  timeWords,
} from "../../entities/run/runs-search.ts";
import { useForm } from "../../hooks/use-form.ts";
import { capital } from "../../lib/format.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { ClearChip, chipClass } from "../../ui/forms/chip.tsx";
import { Field } from "../../ui/forms/field.tsx";

interface TimeRange {
  since?: string;
  until?: string;
}

type Choice = TimeSpan | "own" | "";

/** Filter chip for the creation time: a span that ends now, or a custom range. */
export function TimeChip({ since, until, onChange }: TimeRange & { onChange: (range: TimeRange) => void }) {
  const [isDialogOpen, setIsDialogOpen] = useState(false);
  const isSet = since !== undefined || until !== undefined;
  const value: Choice = isSet ? (since && !until && isSpan(since) ? since : "own") : "";
  const choices: { value: Choice; label: string }[] = [
    ...timeSpans.map((span) => ({ value: span, label: capital(spanWords[span]) })),
    { value: "own", label: "Custom range…" },
  ];
  const choose = (choice: Choice) =>
    choice === "own" ? setIsDialogOpen(true) : onChange({ since: choice || undefined });
  const trigger = (
    <button type="button" className={chipClass(isSet)}>
      {!isSet && <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />}
      {isSet ? "Time:" : "Time"}
      {isSet && <b>{timeWords(since, until)}</b>}
    </button>
  );
  return (
    <span className="inline-flex shrink-0">
      <Menu trigger={trigger}>
        {({ MenuChoice, MenuItem, MenuLine }) => (
          <>
            <MenuChoice title="Created" value={value} choices={choices} onChange={choose} />
            {value === "own" && (
              <>
                <MenuLine />
                <MenuItem onClick={() => setIsDialogOpen(true)}>Change the range…</MenuItem>
              </>
            )}
          </>
        )}
      </Menu>
      {isSet && <ClearChip name="Time" onClear={() => onChange({})} />}
      {isDialogOpen && (
        <RangeDialog
          since={since}
          until={until}
          onClose={() => setIsDialogOpen(false)}
          onChange={(range) => {
            setIsDialogOpen(false);
            onChange(range);
          }}
        />
      )}
    </span>
  );
}

function RangeDialog({
  since,
  until,
  onClose,
  onChange,
}: TimeRange & { onClose: () => void; onChange: (range: TimeRange) => void }) {
  const form = useForm({
    first: () => ({
      from: fieldTime(spanStart(since ?? "24h", Date.now())),
      to: until ? fieldTime(Date.parse(until)) : "",
    }),
    check: ({ from, to }) => ({ from: from || to ? null : "Enter at least one.", to: rangeFault(from, to) }),
    send: async ({ from, to }) => onChange({ since: toUtc(from), until: toUtc(to) }),
  });
  const { from, to } = form.draft;
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Custom range"
      about="Filters by creation time, in the time zone of this browser."
      act="Show runs"
    >
      <div className="grid gap-4 rail:grid-cols-2">
        <Field label="From" type="datetime-local" {...form.text("from")} />
        <Field
          label="To"
          type="datetime-local"
          hint="Empty: until now."
          {...form.text("to")}
          error={rangeFault(from, to)}
        />
      </div>
    </FormDialog>
  );
}

const rangeFault = (from: string, to: string): string | null =>
  from !== "" && to !== "" && Date.parse(to) <= Date.parse(from) ? "The end is before the start." : null;

const toUtc = (field: string): string | undefined => (field ? new Date(field).toISOString() : undefined);
