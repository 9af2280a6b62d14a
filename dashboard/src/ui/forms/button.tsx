import { clsx } from "clsx";
import type { ComponentProps } from "react";

const kinds = {
  plain:
    "border-line-button bg-surface text-ink hover:bg-hover active:bg-active aria-pressed:border-accent-line aria-pressed:bg-accent-soft aria-pressed:text-accent",
  primary: "border-accent bg-accent text-on-accent hover:border-accent-hover hover:bg-accent-hover",
  danger: "border-bad bg-bad text-on-bad hover:border-bad-hover hover:bg-bad-hover",
  "danger-quiet": "border-line-button bg-surface text-bad hover:bg-hover active:bg-active",
  ghost: "border-transparent bg-transparent text-muted hover:bg-hover hover:text-ink aria-pressed:text-accent",
};

const sizes = {
  sm: "h-(--control-sm) px-2 text-xs",
  md: "h-(--control) px-3 text-sm",
  lg: "h-(--control-lg) px-4 text-md",
  icon: "size-(--control) text-sm",
  "icon-sm": "size-(--control-sm) text-xs",
};

export interface ButtonLook {
  kind?: keyof typeof kinds;
  size?: keyof typeof sizes;
}

/** Classes of a button, for links and menu triggers. */
export function buttonClass({ kind = "plain", size = "md" }: ButtonLook = {}): string {
  return clsx(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap no-underline transition-colors",
    "disabled:cursor-not-allowed disabled:text-faint",
    kind === "ghost" ? "disabled:bg-transparent" : "disabled:border-line disabled:bg-subtle",
    kinds[kind],
    sizes[size],
  );
}

/** A button. At most one primary button per decision. */
export function Button({ kind, size, className, type = "button", ...rest }: ButtonLook & ComponentProps<"button">) {
  return <button type={type} className={clsx(buttonClass({ kind, size }), className)} {...rest} />;
}
