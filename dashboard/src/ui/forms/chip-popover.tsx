import { Popover as Base } from "@base-ui/react/popover";
import { clsx } from "clsx";
import { type ReactElement, useState } from "react";
import { limits } from "../../../../server/domain/limits.ts";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";

/** Text field that opens from a chip. Enter sets the filter; an empty field clears it. */
export function ChipPopover({
  trigger,
  name,
  value,
  placeholder,
  hint,
  mono,
  check,
  defaultOpen,
  onChange,
}: {
  trigger: ReactElement<Record<string, unknown>>;
  name: string;
  value: string | undefined;
  placeholder?: string;
  hint?: string;
  mono: boolean;
  check?: (text: string) => string | null;
  defaultOpen: boolean;
  onChange: (value: string | undefined) => void;
}) {
  const [open, setOpen] = useState(defaultOpen);
  const [text, setText] = useState(value ?? "");
  const [fault, setFault] = useState<string | null>(null);
  const submit = () => {
    const wrong = text.trim() ? (check?.(text.trim()) ?? null) : null;
    setFault(wrong);
    if (wrong) return;
    setOpen(false);
    onChange(text.trim() || undefined);
  };
  return (
    <Base.Root
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        setText(value ?? "");
        setFault(null);
      }}
    >
      <Base.Trigger render={trigger} />
      <Base.Portal render={<section aria-label={name} />}>
        <Base.Positioner align="start" sideOffset={4} collisionPadding={8} className="z-(--z-menu)">
          <Base.Popup
            aria-label={`Filter by ${name.toLowerCase()}`}
            className="enter w-72 rounded-lg border border-line bg-surface p-3 shadow-2"
          >
            <form
              noValidate
              className="flex flex-col gap-3"
              onSubmit={(event) => {
                event.preventDefault();
                submit();
              }}
            >
              <Field
                label={name}
                hint={hint}
                error={fault}
                value={text}
                placeholder={placeholder}
                maxLength={limits.subject_length}
                autoComplete="off"
                spellCheck={false}
                className={clsx(mono && "font-mono text-xs")}
                onChange={(event) => setText(event.target.value)}
              />
              <Button type="submit" kind="primary" size="sm" className="self-end">
                Show
              </Button>
            </form>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
