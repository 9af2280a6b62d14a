import { type ToolType, toolTypes } from "../../domain/agent-snapshot.ts";
import type { Fault } from "../../domain/errors.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { headerFaults } from "./headers.ts";
import type { UpdateTool } from "./schema.ts";
import type { Definition, Known } from "./types/tool-kind.ts";
import { toolKinds, typeFields } from "./types/tool-kinds.ts";

/** Throws with every fault of a new or changed tool; `before` is null for a new one. */
export function checkTool(input: UpdateTool, type: ToolType, before: Definition | null, known: Known): void {
  const kind = toolKinds[type];
  const faults = [...strangeFieldFaults(input, type), ...kind.faults(input, before, known)];
  if (typeof input.approval === "object")
    for (const message of checkSchema(input.approval.when)) faults.push(fault("approval.when", `${message}.`));
  if (input.headers) faults.push(...headerFaults(input.headers, kind, before, known));
  throwIfInvalid(faults);
}

/** Refuses fields of other types: if they were ignored, clients would think that they apply. */
const strangeFieldFaults = (input: UpdateTool, type: ToolType): Fault[] =>
  Object.keys(typeFields).flatMap((name) => {
    const types = toolTypes.filter((each) => name in toolKinds[each].fields);
    return name in input && !types.includes(type) ? [fault(name, `Only ${inWords(types)} tools have this.`)] : [];
  });

const inWords = (types: readonly string[]): string =>
  [types.slice(0, -1).join(", "), ...types.slice(-1)].filter((words) => words !== "").join(" and ");
