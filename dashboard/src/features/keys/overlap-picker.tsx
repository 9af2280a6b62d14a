import type { ApiKey } from "../../../../server/wire/key.ts";
import { formatEnd } from "../../lib/format.ts";
import type { Fields } from "../../lib/use-form.ts";
import { useNow } from "../../lib/use-now.ts";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
import { Field } from "../../ui/field.tsx";
import { Select } from "../../ui/select.tsx";
import {
  type Overlap,
  overlapChoices,
  overlapFault,
  overlapNames,
  overlapSeconds,
  overlapShare,
  overlapWords,
} from "./overlap.ts";

/** How long both keys shall be good: chosen, drawn, and said. */
export function OverlapPicker({
  apiKey,
  ownEnd,
  draft: overlap,
  text,
  pick,
  choose,
}: Fields<Overlap> & {
  apiKey: ApiKey;
  /** When the old key ends by itself. */
  ownEnd: string | null;
}) {
  const now = useNow();
  const seconds = overlapSeconds(overlap);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">The old key stops working</span>
        <ChoiceBar
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

const before = 18;

/** The old key above, the new one below, from a little before now. What it shows stands below in words. */
function TwoBars({ last4, share, end }: { last4: string; share: number; end: string }) {
  const width = before + share * (100 - before);
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
        style={{ marginLeft: `${before}%` }}
      >
        New key
      </span>
      <span className="absolute top-0 bottom-4 border-l border-dashed border-muted" style={{ left: `${before}%` }} />
      <span className="absolute bottom-0 -translate-x-1/2 text-muted" style={{ left: `${before}%` }}>
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
