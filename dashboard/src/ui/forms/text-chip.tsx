import { clsx } from "clsx";
import { Plus } from "lucide-react";
import { cloneElement, lazy, useState } from "react";
import { LazyBoundary } from "../feedback/lazy-boundary.tsx";
import { ClearChip, chipClass } from "./chip.tsx";

/** Lazy: a page does not wait for it. */
const LoadedPopover = lazy(() => import("./chip-popover.tsx").then(({ ChipPopover }) => ({ default: ChipPopover })));

/** Filter chip with free text, such as a user or thread id. */
export function TextChip({
  name,
  value,
  placeholder,
  hint,
  mono = false,
  check,
  onChange,
}: {
  /** Name of the filter: “User”. */
  name: string;
  value: string | undefined;
  placeholder?: string;
  hint?: string;
  mono?: boolean;
  /** Returns the error of a text, or null. */
  check?: (text: string) => string | null;
  onChange: (value: string | undefined) => void;
}) {
  const [isOpenRequested, setIsOpenRequested] = useState(false);
  const trigger = (
    <button type="button" className={clsx(chipClass(value !== undefined), "max-w-60")}>
      {value === undefined && <Plus aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />}
      {value === undefined ? name : `${name}:`}
      {value !== undefined && (
        <b className="cut" title={value}>
          {value}
        </b>
      )}
    </button>
  );
  const early = cloneElement(trigger, { onClick: () => setIsOpenRequested(true), "aria-haspopup": "dialog" });
  return (
    <span className="inline-flex shrink-0">
      <LazyBoundary fallback={early}>
        <LoadedPopover
          trigger={trigger}
          name={name}
          value={value}
          placeholder={placeholder}
          hint={hint}
          mono={mono}
          check={check}
          defaultOpen={isOpenRequested}
          onChange={onChange}
        />
      </LazyBoundary>
      {value !== undefined && <ClearChip name={name} onClear={() => onChange(undefined)} />}
    </span>
  );
}
