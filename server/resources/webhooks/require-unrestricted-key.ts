import { AppError } from "../../domain/errors.ts";
import type { Viewer } from "../../http/auth.ts";

/** Throws for an agent-bound key, because a webhook receives events of all agents. */
export function requireUnrestrictedKey({ agent_ids }: Viewer): void {
  if (agent_ids)
    throw new AppError(
      "insufficient_scope",
      "A key that is bound to agents cannot use webhooks, since they receive events of all agents.",
      {
        details: { bound_by: "agent_ids" },
      },
    );
}
