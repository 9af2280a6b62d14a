import { Menu as Base } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { useEarlyOpen } from "../forms/use-early-open.ts";

const itemClass =
  "flex min-h-8 w-full cursor-pointer items-center gap-2.5 rounded-md px-2 text-left text-ink outline-none select-none data-highlighted:bg-hover [&_svg]:text-muted";

const parts = { MenuItem, MenuChoice, MenuChecks, MenuLine, MenuHead };
export type MenuParts = typeof parts;

export interface BaseMenuProps {
  trigger: ReactElement<Record<string, unknown>>;
  side?: "top" | "bottom";
  align?: "start" | "end";
  defaultOpen?: boolean;
  /** Renders the content with the given parts. */
  children: (parts: MenuParts) => ReactNode;
}

/** A menu with its trigger. */
export function BaseMenu({ trigger, side = "bottom", align = "start", defaultOpen, children }: BaseMenuProps) {
  const { isOpen, setOpen, trigger: button } = useEarlyOpen(defaultOpen);
  return (
    <Base.Root open={isOpen} onOpenChange={setOpen}>
      <Base.Trigger ref={button} render={trigger} />
      <Base.Portal render={<section aria-label="Menu" />}>
        <Base.Positioner side={side} align={align} sideOffset={4} collisionPadding={8} className="z-(--z-palette)">
          <Base.Popup className="enter max-h-(--available-height) max-w-80 min-w-50 overflow-y-auto rounded-lg border border-line bg-surface p-1 shadow-2">
            {children(parts)}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** An action of a menu. */
function MenuItem({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Base.Item className={itemClass} onClick={onClick}>
      {children}
    </Base.Item>
  );
}

/** A titled single choice. */
function MenuChoice<T extends string>({
  title,
  value,
  choices,
  onChange,
}: {
  title: string;
  value: T;
  choices: readonly { value: T; label: ReactNode }[];
  onChange: (value: T) => void;
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-2xs text-faint">{title}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChange}>
        {choices.map((choice) => (
          <Base.RadioItem key={choice.value} value={choice.value} closeOnClick className={itemClass}>
            {choice.label}
            <Base.RadioItemIndicator className="ml-auto">
              <Check aria-hidden className="size-4" strokeWidth={1.5} />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

/** A titled multiple choice. The menu stays open. */
function MenuChecks<T extends string>({
  title,
  values,
  choices,
  onToggle,
}: {
  title: string;
  values: ReadonlySet<T>;
  choices: readonly { value: T; label: ReactNode }[];
  onToggle: (value: T) => void;
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2 pt-1.5 pb-1 text-2xs text-faint">{title}</Base.GroupLabel>
      {choices.map(({ value, label }) => (
        <Base.CheckboxItem
          key={value}
          checked={values.has(value)}
          onCheckedChange={() => onToggle(value)}
          className={itemClass}
        >
          {label}
          <Base.CheckboxItemIndicator className="ml-auto">
            <Check aria-hidden className="size-4" strokeWidth={1.5} />
          </Base.CheckboxItemIndicator>
        </Base.CheckboxItem>
      ))}
    </Base.Group>
  );
}

/** Separator between groups. */
function MenuLine() {
  return <Base.Separator className="-mx-1 my-1 h-px bg-line" />;
}

/** Text at the top of a menu. */
function MenuHead({ children }: { children: ReactNode }) {
  return <div className="px-2 py-1.5 text-xs text-muted">{children}</div>;
}
