import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import type { Fields } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatEnd } from "../../lib/format.ts";
import { Field } from "../../ui/forms/field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { Select } from "../../ui/forms/select.tsx";
import {
  type Overlap,
  overlapChoices,
  overlapFault,
  overlapNames,
  overlapSeconds,
  overlapShare,
  overlapWords,
} from "./overlap.ts";

/** Chooses the overlap in which both keys work. Shows it as bars and in words. */
export function OverlapPicker({
  apiKey,
  ownEnd,
  draft: overlap,
  text,
  pick,
  choose,
}: Fields<Overlap> & {
  apiKey: ApiKey;
  /** The time at which the old key expires anyway; null if never. */
  ownEnd: string | null;
}) {
  const now = useNow();
  const seconds = overlapSeconds(overlap);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">The old key stops working</span>
        <SegmentedControl
          name="overlap"
          label="The old key stops working"
          choices={overlapChoices.map((value) => ({ value, label: overlapNames[value] }))}
          {...choose("choice")}
        />
      </div>
      {overlap.choice === "own" && (
        <div className="grid grid-cols-2 gap-3">
          <Field
            label="After"
            inputMode="decimal"
            hint="30 days at most."
            {...text("amount")}
            error={overlapFault(overlap)}
          />
          <Select
            label="Unit"
            choices={[
              { value: "hours", label: "hours" },
              { value: "days", label: "days" },
            ]}
            {...pick("unit")}
          />
        </div>
      )}
      {seconds !== null && (
        <>
          <TwoBars last4={apiKey.last4} share={overlapShare(seconds)} end={formatEnd(now + seconds * 1000, now)} />
          <p aria-live="polite">{overlapWords(seconds, now, ownEnd)}</p>
        </>
      )}
    </div>
  );
}

const leadPercent = 18;

/** Bars of the old and the new key on a timeline. Hidden from screen readers, because the words below say the same. */
function TwoBars({ last4, share, end }: { last4: string; share: number; end: string }) {
  const width = leadPercent + share * (100 - leadPercent);
  return (
    <div aria-hidden className="relative flex flex-col gap-1 pb-5 text-2xs">
      <span
        className="cut h-6 rounded-sm border border-warn-line bg-warn-soft px-2 leading-(--leading-md) text-warn transition-[width]"
        style={{ width: `${width}%` }}
      >
        Old key …{last4}
      </span>
      <span
        className="cut h-6 rounded-sm border border-accent-line bg-accent-soft px-2 leading-(--leading-md) text-accent"
        style={{ marginLeft: `${leadPercent}%` }}
      >
        New key
      </span>
      <span
        className="absolute top-0 bottom-4 border-l border-dashed border-muted"
        style={{ left: `${leadPercent}%` }}
      />
      <span className="absolute bottom-0 -translate-x-1/2 text-muted" style={{ left: `${leadPercent}%` }}>
        now
      </span>
      {share > 0.3 && (
        <span className="absolute bottom-0 -translate-x-full text-muted" style={{ left: `${width}%` }}>
          {end}
        </span>
      )}
    </div>
  );
}
