import { type ReactNode, useId } from "react";

/** A section of a settings page: explanation on the left (above on narrow pages) and form. */
export function Section({ title, about, children }: { title: string; about: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section
      aria-labelledby={id}
      className="grid gap-x-10 gap-y-4 border-t border-line py-6 first:border-t-0 full:grid-cols-[minmax(0,3fr)_minmax(0,7fr)]"
    >
      <div className="flex flex-col gap-1">
        <h2 id={id} className="text-md">
          {title}
        </h2>
        <div className="max-w-[68ch] text-muted">{about}</div>
      </div>
      <div className="min-w-0">{children}</div>
    </section>
  );
}
