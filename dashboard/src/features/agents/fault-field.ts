import type { DraftField, Faults } from "./agent-fields.ts";
import { draftOf } from "./draft.ts";

const fields: ReadonlySet<string> = new Set(Object.keys(draftOf()));

/** The server's faults by the fields of the form; `rest` are those that no field shows. */
export function faultFields(faults: readonly { param: string | null; message: string }[]): {
  faults: Faults;
  rest: string[];
} {
  const byField: Faults = {};
  const rest: string[] = [];
  for (const { param, message } of faults) {
    const [head = "", next = ""] = (param ?? "").replaceAll(/\[\d+\]/g, "").split(".");
    const field = (head === "budget" || head === "model_settings" ? next : head) as DraftField;
    if (!fields.has(field)) rest.push(message);
    else byField[field] = [byField[field], withPlace(param ?? "", message)].filter(Boolean).join(" ");
  }
  return { faults: byField, rest };
}

/** Of a list or an object, where in it. */
const withPlace = (param: string, message: string): string =>
  /[.[]/.test(param) && !message.startsWith(param) ? `${param}: ${message}` : message;
