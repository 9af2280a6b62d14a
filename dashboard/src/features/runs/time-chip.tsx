import { clsx } from "clsx";
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
import { ClearChip, chipClass } from "../../ui/chip.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Menu } from "../../ui/menu.tsx";

interface TimeRange {
  since?: string;
  until?: string;
}

type Choice = TimeSpan | "own" | "";

/** The chip that filters by when a run was made: a span that ends now, or a range of one's own. */
export function TimeChip({ since, until, onChange }: TimeRange & { onChange: (range: TimeRange) => void }) {
  const [asks, setAsks] = useState(false);
  const isSet = since !== undefined || until !== undefined;
  const value: Choice = isSet ? (since && !until && isSpan(since) ? since : "own") : "";
  const choices: { value: Choice; label: string }[] = [
    ...timeSpans.map((span) => ({ value: span, label: capital(spanWords[span]) })),
    { value: "own", label: "Own range…" },
  ];
  const choose = (choice: Choice) => (choice === "own" ? setAsks(true) : onChange({ since: choice || undefined }));
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
                <MenuItem onClick={() => setAsks(true)}>Change the range…</MenuItem>
              </>
            )}
          </>
        )}
      </Menu>
      {isSet && <ClearChip name="Time" onClear={() => onChange({})} />}
      {asks && (
        <RangeDialog
          since={since}
          until={until}
          onClose={() => setAsks(false)}
          onChange={(range) => {
            setAsks(false);
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
  const [from, setFrom] = useState(() => fieldTime(spanStart(since ?? "24h", Date.now())));
  const [to, setTo] = useState(() => (until ? fieldTime(Date.parse(until)) : ""));
  const [refused, setRefused] = useState(false);
  const isBackward = from !== "" && to !== "" && Date.parse(to) <= Date.parse(from);
  const submit = () => {
    setRefused(true);
    if (!isBackward && (from || to)) onChange({ since: toUtc(from), until: toUtc(to) });
  };
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Own range"
      about="By when the runs were created, in the time of this computer."
      act="Show runs"
      busy={false}
      onSubmit={submit}
    >
      <div className={clsx("grid gap-4 rail:grid-cols-2")}>
        <Field
          label="From"
          type="datetime-local"
          value={from}
          error={refused && !from && !to ? "Give one of the two." : null}
          onChange={(event) => setFrom(event.target.value)}
        />
        <Field
          label="To"
          type="datetime-local"
          hint="Left empty: until now."
          value={to}
          error={isBackward ? "It ends before it begins." : null}
          onChange={(event) => setTo(event.target.value)}
        />
      </div>
    </FormDialog>
  );
}

const toUtc = (field: string): string | undefined => (field ? new Date(field).toISOString() : undefined);

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);
