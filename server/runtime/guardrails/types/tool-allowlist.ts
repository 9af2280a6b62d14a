import { guardrailLimits } from "../limits.ts";
import { type Complain, checkList, type GuardrailKind } from "./guardrail-kind.ts";

/** Allows only calls of these tools. */
export const kind: GuardrailKind = {
  about: "tool",
  required: { tools: checkTools },
  allows: ({ tools }, tool) => (tools as string[]).includes(tool),
  message: () => "The tool is not allowed.",
  only: "tool_call",
};

function checkTools(value: unknown, path: string, complain: Complain): void {
  checkList(
    value,
    path,
    complain,
    guardrailLimits.tools,
    (name, at) => {
      if (!/^[A-Za-z0-9_-]{1,129}$/.test(name)) complain(at, "Must be the name of a tool.");
    },
    0,
  );
}
