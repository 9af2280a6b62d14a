import { clsx } from "clsx";
import { type ReactNode, useId } from "react";

/** A titled section of a page. Cards are never nested. */
export function Card({
  title,
  aside,
  className,
  children,
}: {
  title: ReactNode;
  /** Content on the right of the title: a legend, a link. */
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className={clsx("flex min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface", className)}
    >
      <header className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2">
        <h2 id={id} className="flex items-center gap-2 text-md">
          {title}
        </h2>
        {aside && <div className="ml-auto flex flex-wrap items-center gap-x-4 text-xs text-muted">{aside}</div>}
      </header>
      {children}
    </section>
  );
}
