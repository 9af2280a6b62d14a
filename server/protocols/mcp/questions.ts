import type { RequiredCallObject } from "../../domain/required-action.ts";
import { decisions } from "../../domain/run-event.ts";
import { toSafeString } from "../../lib/safe-string.ts";
import type { SubmitToolOutputs } from "../../runs/schema.ts";
import type { Params } from "./protocol.ts";

type ToolOutput = SubmitToolOutputs["tool_outputs"][number];

const texts = {
  approval: (tool: string) => `May "${tool}" be called?`,
  output: (tool: string) => `The agent calls "${tool}", and waits for what came of it.`,
};

const decision = {
  type: "object",
  properties: {
    decision: { type: "string", title: "Decision", enum: decisions },
    reason: { type: "string", title: "Reason", description: "The agent reads it." },
  },
  required: ["decision"],
};
const output = {
  type: "object",
  properties: { output: { type: "string", title: "Result", description: "The agent reads it." } },
  required: ["output"],
};

/** Returns the question for a pending call, or null if no form can settle it. */
export function questionOf({ name, arguments: args, needs, elicitation }: RequiredCallObject): Params | null {
  // The question of another MCP server is passed on as it is. The client has declared no more than forms.
  if (needs === "elicitation")
    return elicitation?.requested_schema
      ? { message: elicitation.message, requestedSchema: elicitation.requested_schema }
      : null;
  if (needs === "reconcile" || needs === "authorization") return null;
  const message = `${texts[needs](name)}\n${JSON.stringify(args, null, 2)}`;
  return { message, requestedSchema: needs === "approval" ? decision : output };
}

/** Converts the client's answer to a tool output. `result` is null if the client could not ask. */
export function outputOf(
  { tool_call_id, needs }: Pick<RequiredCallObject, "tool_call_id" | "needs">,
  result: Params | null,
): ToolOutput {
  const content = (result?.action === "accept" ? result.content : null) as Params | null;
  if (needs === "elicitation") {
    const action = result?.action === "accept" || result?.action === "decline" ? result.action : "cancel";
    return { tool_call_id, elicitation: { action, ...(content && { content }) } };
  }
  const declined = result === null ? "The client could not ask." : "The user did not answer.";
  if (needs === "approval") {
    const isApproved = content?.decision === "approve";
    const reason = content ? content.reason : declined;
    return {
      tool_call_id,
      decision: isApproved ? "approve" : "reject",
      ...(typeof reason === "string" && reason !== "" && { reason: reason.slice(0, 2000) }),
    };
  }
  if (content && "output" in content) return { tool_call_id, output: content.output };
  return { tool_call_id, output: declined, is_error: true };
}

/** Id of a question. It contains run and call, so that no state is kept. */
export const questionId = (run_id: string, call_id: string): string => `${run_id}/${call_id}`;

/** Returns null if the id is not a question's. */
export function readQuestionId(id: string | number): { run_id: string; call_id: string } | null {
  const [, run_id, call_id] = /^(run_\w+)\/(\w+)$/.exec(toSafeString(id)) ?? [];
  return run_id && call_id ? { run_id, call_id } : null;
}
