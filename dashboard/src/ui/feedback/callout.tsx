import { clsx } from "clsx";
import { CircleAlert, CircleCheck, CircleHelp, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

const looks = {
  bad: ["border-bad-line bg-bad-soft", "text-bad", CircleAlert],
  warn: ["border-warn-line bg-warn-soft", "text-warn", TriangleAlert],
  ask: ["border-warn-line bg-surface ring-3 ring-warn-soft", "text-warn", CircleHelp],
  info: ["border-info-line bg-info-soft", "text-info", Info],
  ok: ["border-ok-line bg-ok-soft", "text-ok", CircleCheck],
} as const;

/** A notice: event, reason and next step. */
export function Callout({
  tone,
  children,
  ...rest
}: {
  tone: keyof typeof looks;
  role?: "alert" | "status";
  children: ReactNode;
}) {
  const [box, ink, Icon] = looks[tone];
  return (
    <div className={clsx("flex min-w-0 gap-2.5 rounded-md border px-3 py-2.5 wrap-anywhere", box)} {...rest}>
      <Icon aria-hidden className={clsx("mt-0.5 size-4 shrink-0", ink)} strokeWidth={1.5} />
      <div className="min-w-0 flex-1">{children}</div>
    </div>
  );
}
