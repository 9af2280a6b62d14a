import type { DraftField, Faults } from "./draft.ts";

const heads: Record<string, DraftField> = {
  name: "name",
  description: "description",
  instructions: "instructions",
  model: "model",
  tools: "tools",
  max_turns: "max_turns",
  output_schema: "output_schema",
  guardrails: "guardrails",
  memory: "memory",
  metadata: "metadata",
};

/** The server's faults by the fields of the form; `rest` are those that no field shows. */
export function faultFields(faults: readonly { param: string | null; message: string }[]): {
  faults: Faults;
  rest: string[];
} {
  const byField: Faults = {};
  const rest: string[] = [];
  for (const { param, message } of faults) {
    const [head = "", next = ""] = (param ?? "").replaceAll(/\[\d+\]/g, "").split(".");
    const field = head === "budget" || head === "model_settings" ? (next as DraftField) : heads[head];
    if (!field) rest.push(message);
    else byField[field] = [byField[field], withPlace(param ?? "", message)].filter(Boolean).join(" ");
  }
  return { faults: byField, rest };
}

/** Of a list or an object, where in it. */
const withPlace = (param: string, message: string): string =>
  /[.[]/.test(param) && !message.startsWith(param) ? `${param}: ${message}` : message;
