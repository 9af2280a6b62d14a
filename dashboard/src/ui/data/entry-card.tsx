import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../forms/button.tsx";

/** An entry of an edited list with a remove button. */
export function EntryCard({ title, onRemove, children }: { title: string; onRemove: () => void; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3 rounded-md border border-line bg-subtle p-3">
      <div className="flex items-center justify-between gap-3">
        <span className="text-sm font-medium">{title}</span>
        <Button kind="ghost" size="icon-sm" aria-label={`Remove ${title.toLowerCase()}`} onClick={onRemove}>
          <X aria-hidden className="size-4" strokeWidth={1.5} />
        </Button>
      </div>
      {children}
    </section>
  );
}
