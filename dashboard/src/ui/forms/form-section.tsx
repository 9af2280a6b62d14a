import type { ReactNode } from "react";

/** A section of a long form: explanation on the left, fields on the right. */
export function FormSection({ title, about, children }: { title: string; about?: ReactNode; children: ReactNode }) {
  return (
    <section
      aria-label={title}
      className="grid gap-x-8 gap-y-3 border-b border-line-soft py-5 last:border-b-0 wide:grid-cols-[calc(var(--space-10)*5)_minmax(0,1fr)]"
    >
      <div>
        <h2 className="text-md">{title}</h2>
        {about && <div className="max-w-[68ch] text-xs text-muted">{about}</div>}
      </div>
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </section>
  );
}
