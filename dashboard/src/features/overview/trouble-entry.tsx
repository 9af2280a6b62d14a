import { Link } from "@tanstack/react-router";
import { CalendarClock, Webhook } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import type { Trouble } from "./troubles.ts";

const icons = { schedule: CalendarClock, webhook: Webhook };

/** A schedule or a webhook that fails, and the way to where the reason stands. */
export function TroubleEntry({ trouble: { kind, id, title, detail, runId } }: { trouble: Trouble }) {
  const Icon = icons[kind];
  const look = { className: buttonClass({ size: "sm" }), "aria-label": `Look at: ${title}`, children: "Look" };
  return (
    <div className="flex items-center gap-2.5 px-4 py-2">
      <span className="outlined inline-grid size-5 shrink-0 place-items-center rounded-sm bg-bad-soft text-bad">
        <Icon aria-hidden className="size-3" strokeWidth={1.75} />
      </span>
      <div className="min-w-0 flex-1">
        <div className="cut font-strong" title={title}>
          {title}
        </div>
        <div className="cut text-xs text-muted" title={detail}>
          {detail}
        </div>
      </div>
      {kind === "webhook" ? (
        <Link to="/webhooks/$webhookId" params={{ webhookId: id }} {...look} />
      ) : runId ? (
        <Link to="/runs/$runId" params={{ runId }} {...look} />
      ) : (
        <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} {...look} />
      )}
    </div>
  );
}
