import { clsx } from "clsx";
import { Bot, type LucideIcon, Settings2, UserRound, Wrench } from "lucide-react";
import type { ReactNode } from "react";
import { LongText } from "../../ui/data/value.tsx";

const icons: Record<string, LucideIcon> = { system: Settings2, user: UserRound, assistant: Bot, tool: Wrench };

/** One message of a model conversation. `name` is that of the agent, if several answer in turn. */
export function MessageCard({
  by,
  name,
  aside,
  children,
}: {
  by: string;
  name?: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  const Icon = icons[by] ?? UserRound;
  return (
    <article
      aria-label={name ? `${by}, ${name}` : by}
      className={clsx("min-w-0 rounded-md border", by === "assistant" ? "border-accent-line" : "border-line")}
    >
      <header className="flex min-h-(--row-dense) items-center gap-2 rounded-t-md border-b border-line-soft bg-subtle px-2.5 text-xs text-muted">
        <Icon aria-hidden className="size-3.5 shrink-0" strokeWidth={1.5} />
        <span className="font-medium">{by}</span>
        {name && (
          <span className="cut" title={name}>
            {name}
          </span>
        )}
        <span className="ml-auto flex shrink-0 items-center gap-1 tabular-nums">{aside}</span>
      </header>
      <div className="flex flex-col gap-2 px-2.5 py-2">{children}</div>
    </article>
  );
}

/** A tool call within a model's message. */
export function AskedCall({ name, args }: { name: string; args: unknown }) {
  const text = typeof args === "string" ? args : JSON.stringify(args);
  return (
    <div className="flex min-w-0 items-start gap-2 rounded-sm bg-subtle px-2 py-1 text-xs" title={`Calls ${name}`}>
      <Wrench aria-hidden className="mt-0.5 size-3 shrink-0 text-muted" strokeWidth={1.75} />
      <p className="min-w-0 wrap-anywhere">
        <span className="mr-2 font-medium">{name}</span>
        <code className="text-muted">{text.length > 400 ? `${text.slice(0, 400)}…` : text}</code>
      </p>
    </div>
  );
}

/** A model's reasoning, collapsed. */
export function Reasoning({ text }: { text: string }) {
  return (
    <details className="text-muted">
      <summary className="w-fit rounded-sm text-xs">Reasoning</summary>
      <div className="mt-1 border-l-2 border-line pl-3">
        <LongText text={text} name="reasoning" />
      </div>
    </details>
  );
}
