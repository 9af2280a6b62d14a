import { clsx } from "clsx";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

const tones = {
  plain: "bg-hover text-muted",
  ok: "bg-ok-soft text-ok",
  warn: "bg-warn-soft text-warn",
  bad: "bg-bad-soft text-bad",
  info: "bg-info-soft text-info",
};

export type Tone = keyof typeof tones;

/** Look of a state: tone, icon and label. */
export type Look = readonly [Tone, LucideIcon, string];

/** Pill of a look. */
export const LookPill = ({ look: [tone, icon, word], spin }: { look: Look; spin?: boolean }) => (
  <Pill tone={tone} icon={icon} spin={spin}>
    {word}
  </Pill>
);

/** A state with icon, label and, in addition, colour. */
export function Pill({
  tone,
  icon: Icon,
  spin,
  children,
}: {
  tone: Tone;
  icon: LucideIcon;
  spin?: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={clsx(
        "outlined inline-flex h-5 items-center gap-1 rounded-full pr-2 pl-1.5 text-2xs font-medium whitespace-nowrap",
        tones[tone],
      )}
    >
      <Icon aria-hidden className={clsx("size-3", spin && "spin")} strokeWidth={2} />
      {children}
    </span>
  );
}

/** Returns the labels of looks. */
export const labelsOf = <T extends string>(looks: Record<T, Look>): Record<T, string> =>
  Object.fromEntries(Object.entries<Look>(looks).map(([value, [, , word]]) => [value, word])) as Record<T, string>;
