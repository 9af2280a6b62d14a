import type { RunEvent } from "../domain/run-event.ts";
import type { RunState, ToolCall } from "../domain/run-state.ts";
import type { Scope } from "../domain/scope.ts";
import type { Bounds } from "../http/principal.ts";
import { canonicalJson } from "../lib/canonical-json.ts";
import { sha256 } from "../lib/hash.ts";
import type { Audit, Author } from "../storage/db/audit.ts";

/** Author of a decision: an API client or a dashboard user. The server itself has no actor. */
export type DecisionAuthor = Scope & Partial<Author> & { readonly token?: Bounds & { readonly id?: string } };

/**
 * Writes an audit entry for each decision about a tool call. Call inside the write of the decisions: `events` are what
 * they make of `state`. A repeated decision creates no event and no second entry.
 */
export function noteDecisions(
  audit: Audit,
  author: DecisionAuthor,
  state: RunState,
  events: readonly RunEvent[],
): void {
  const { actor, project_id, environment, token } = author;
  if (!actor) return;
  const by = { actor, project_id, environment };
  const { run_id, agent_id } = state.run;

  function note(action: string, call: ToolCall, args: unknown = call.arguments): void {
    const [proposed_arguments_sha256, arguments_sha256] = [hashOf(call.arguments), hashOf(args)];
    audit.note(by, action, call.id, {
      run_id,
      agent_id,
      tool: call.tool,
      arguments_sha256,
      ...(proposed_arguments_sha256 !== arguments_sha256 && { proposed_arguments_sha256 }),
      ...(call.needs === "reconcile" && { outcome_unknown: true }),
      ...(token?.id && { client_token: token.id }),
    });
  }

  for (const event of events) {
    const call = "tool_call_id" in event ? state.calls.find(({ id }) => id === event.tool_call_id) : undefined;
    if (!call) continue;
    if (event.type === "tool.decided" && event.decision === "approve")
      note("tool_call.approved", call, event.arguments ?? undefined);
    if (event.type !== "tool.completed") continue;
    if (event.status === "rejected") note("tool_call.rejected", call);
    else if (call.needs === "reconcile") note("tool_call.resolved", call);
  }
}

const hashOf = (args: unknown): string => sha256(canonicalJson(args));
