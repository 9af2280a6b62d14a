import { AppError } from "../core/errors.ts";
import type { Viewer } from "../http/auth.ts";

/** Throws for a key that is bound to some agents: a webhook hears of the runs of all of them. */
export function requireUnbound({ agent_ids }: Viewer): void {
  if (agent_ids)
    throw new AppError(
      "insufficient_scope",
      "A key that is bound to agents cannot use webhooks, since they receive events of all agents.",
      {
        details: { bound_by: "agent_ids" },
      },
    );
}
