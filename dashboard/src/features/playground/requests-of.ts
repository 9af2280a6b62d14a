import type { ApiRequest } from "../../lib/request-code.ts";
import type { RunBody } from "./playground-types.ts";
import type { Turn } from "./turn.ts";

/** What an application would send for what was done here: the run, and the answers to its calls. */
export function requestsOf(next: RunBody, last: Turn | undefined): ApiRequest[] {
  const isNext = next.input !== "" || !last?.body;
  const body = isNext ? { ...next, input: next.input || "Hello" } : last.body;
  const run: ApiRequest = { method: "POST", path: "/v1/runs", body, stream: true };
  if (isNext || !last?.runId) return [run];
  const path = `/v1/runs/${last.runId}/submit_tool_outputs`;
  const answers = last.answers.map(
    (answer): ApiRequest => ({
      method: "POST",
      path,
      body: { tool_outputs: [answer] },
      note: answer.decision ? "What was decided about a call" : "The output of a client tool",
    }),
  );
  return [{ ...run, ...(answers.length > 0 && { note: "The run" }) }, ...answers];
}
