import { CircleAlert } from "lucide-react";
import { useId } from "react";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import type { Amount } from "./amount.ts";

export interface AmountSetting {
  /** API path within its group: `reads_per_minute`, `live.runs_days`. */
  name: string;
  label: string;
  hint?: string;
  /** Text after the number: “per minute”. */
  unit: string;
  /** Default number, used if null; null if there is none. */
  usual: number | null;
  choices: { value: Amount["choice"]; label: string }[];
  /** Placeholder if no number is set. */
  blank: string;
  /** True if fractions are allowed. */
  fraction?: boolean;
}

interface AmountRowProps {
  setting: AmountSetting;
  amount: Amount;
  fault: string | null;
  readOnly: boolean;
  onChange: (amount: Amount) => void;
}

/** A setting with a choice and a number. Typing a number selects it. */
export function AmountRow({ setting, amount, fault, readOnly, onChange }: AmountRowProps) {
  const id = useId();
  const { label, hint, unit, usual, choices, blank } = setting;
  const choose = (choice: Amount["choice"]) => {
    const text = choice === "unset" ? String(usual ?? "") : choice === "off" ? "" : amount.text;
    onChange({ choice, text });
  };
  return (
    <fieldset
      className="grid items-center gap-x-6 gap-y-2 border-t border-line-soft py-3 first:border-t-0 first:pt-0 rail:grid-cols-[minmax(0,1fr)_auto]"
      aria-describedby={fault ? `${id}-fault` : undefined}
    >
      <legend className="sr-only">{label}</legend>
      <div aria-hidden className="min-w-0">
        <div className="font-medium">
          {label} <span className="text-xs font-regular text-muted rail:hidden">{unit}</span>
        </div>
        {hint && <div className="text-xs text-muted">{hint}</div>}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <SegmentedControl name={id} choices={choices} chosen={amount.choice} readOnly={readOnly} onChoose={choose} />
        <input
          aria-label={`${label}, ${unit}`}
          aria-invalid={fault ? true : undefined}
          aria-describedby={fault ? `${id}-fault` : undefined}
          inputMode={setting.fraction ? "decimal" : "numeric"}
          autoComplete="off"
          maxLength={16}
          value={amount.text}
          placeholder={blank}
          readOnly={readOnly}
          onChange={(event) => onChange({ choice: "own", text: event.target.value })}
          className="h-(--control) w-24 min-w-0 rounded-md border border-line-control bg-surface px-2.5 text-right text-ink tabular-nums hover:border-muted disabled:border-line disabled:bg-subtle disabled:text-muted aria-invalid:border-bad"
        />
        <span aria-hidden className="hidden w-18 text-xs text-muted rail:block">
          {unit}
        </span>
      </div>
      {fault && (
        <div id={`${id}-fault`} className="flex items-center gap-1.5 text-xs text-bad rail:col-span-2 rail:justify-end">
          <CircleAlert aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
          {fault}
        </div>
      )}
    </fieldset>
  );
}
