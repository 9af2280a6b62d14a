import type { ReactNode } from "react";
import { CopyButton } from "../../ui/copy-button.tsx";

/** A titled part of the detail, with what it holds to copy. */
export function Block({
  title,
  copy,
  aside,
  children,
}: {
  title: string;
  copy?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex min-h-7 items-center justify-between gap-2">
        <h3 className="text-xs font-medium text-muted">{title}</h3>
        <span className="flex items-center gap-1 text-xs text-muted">
          {aside}
          {copy && <CopyButton text={copy} what={title.toLowerCase()} />}
        </span>
      </div>
      {children}
    </section>
  );
}
