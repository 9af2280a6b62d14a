import type { Fault } from "../core/errors.ts";
import { fault } from "../http/errors.ts";
import { checkSchema } from "../lib/json-schema.ts";

/** What is wrong with a schema that a call's arguments shall fit. */
export function parameterFaults(parameters: Record<string, unknown>): Fault[] {
  const faults = checkSchema(parameters).map((message) => fault("parameters", `${message}.`));
  if (parameters.type !== undefined && parameters.type !== "object")
    faults.push(fault("parameters.type", 'Arguments are an object: this must be "object", or left out.'));
  return faults;
}
