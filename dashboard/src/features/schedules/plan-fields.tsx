import { useMemo } from "react";
import type { Fields } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { cronWords } from "./cron-words.ts";
import { nextTimes } from "./next-times.ts";
import { NextTimesList } from "./next-times-list.tsx";

const presets = [
  { value: "0 * * * *", label: "Hourly" },
  { value: "0 9 * * *", label: "Daily" },
  { value: "0 9 * * mon-fri", label: "Weekdays" },
  { value: "0 9 * * mon", label: "Weekly" },
  { value: "0 9 1 * *", label: "Monthly" },
] as const;

/** Fields for the time: presets or cron, with a description and the next five times. */
export function PlanFields({
  draft: { cron, timezone },
  text,
  suggest,
  set,
}: Fields<{ cron: string; timezone: string }>) {
  const minute = Math.floor(useNow() / 60_000);
  const times = useMemo(() => nextTimes(cron, timezone, minute * 60_000), [cron, timezone, minute]);
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone")].map((value) => ({ value })), []);
  const words = times && cronWords(cron);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">How often</span>
        <SegmentedControl
          name="how often"
          label="How often"
          choices={presets}
          chosen={cron as (typeof presets)[number]["value"]}
          onChoose={(next) => set({ cron: next })}
        />
      </div>
      <div className="grid items-start gap-3 rail:grid-cols-2">
        <Field
          label="Cron"
          className="font-mono text-xs"
          maxLength={256}
          autoComplete="off"
          spellCheck={false}
          hint="Minute, hour, day of month, month, day of week."
          {...text("cron")}
        />
        <Combobox label="Time zone" items={zones} hint="Adjusts for daylight saving." {...suggest("timezone")} />
      </div>
      <section aria-label="Preview" className="rounded-md border border-line bg-subtle px-3 py-2">
        <p className="mb-1 font-medium" aria-live="polite">
          {times === null && "This is not a valid cron expression yet."}
          {times?.length === 0 && "This date does not exist, so it would never run."}
          {times && times.length > 0 && (words ?? "Next runs")}
        </p>
        {times && times.length > 0 && <NextTimesList times={times} timezone={timezone} />}
        {times === null && (
          <p className="text-xs text-muted">
            Each of the five fields is *, a number, a list (1,15), a range (9-17) or a step (*/15). Days and months have
            names, too: mon, jan.
          </p>
        )}
      </section>
    </div>
  );
}
