import { Type } from "@sinclair/typebox";
import type { Fault } from "../../core/errors.ts";
import type { JsonSchema } from "../../core/model-call.ts";
import { fault } from "../../http/errors.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { named } from "../../lib/schema.ts";
import type { Given } from "./tool-kind.ts";

// What tools of several types have.

export const addressField = Type.String({ minLength: 1, maxLength: 2048 });

export const headersField = named(
  "ToolHeaders",
  Type.Record(Type.String({ pattern: "^[\\s\\S]{1,256}$" }), Type.String({ maxLength: 8192 }), {
    maxProperties: 50,
    additionalProperties: false,
  }),
);

export const timeoutField = Type.Integer({ minimum: 100, maximum: 600_000 });

export const usualTimeout_ms = 30_000;

/** Of requests; what may be shorter has bounds of its own. */
export const timeoutFaults = ({ timeout_ms }: { timeout_ms?: number }): Fault[] =>
  timeout_ms !== undefined && timeout_ms < 1000
    ? [fault("timeout_ms", "Expected integer to be greater or equal to 1000.")]
    : [];

/** What is wrong with a schema that a call's arguments shall fit. */
export const parameterFaults = ({ parameters }: Given): Fault[] => schemaFaults(parameters, "parameters");

/** The same, of the parameter that holds the schema. */
export function schemaFaults(parameters: JsonSchema | undefined, param: string): Fault[] {
  if (!parameters) return [];
  const faults = checkSchema(parameters).map((message) => fault(param, `${message}.`));
  if (parameters.type !== undefined && parameters.type !== "object")
    faults.push(fault(`${param}.type`, 'Arguments are an object: this must be "object", or left out.'));
  return faults;
}

/** What is wrong with an address that holds a secret. */
export const secretInAddress = (field: string): Fault =>
  fault(field, "Put secrets into headers: URLs are shown to everyone who can read tools.");

/** What a header's value looks like to whoever may not read it. Sent back, it keeps the value. */
export const mask = "********";

export const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, mask]));

/** Parameters of one text. */
export const textParameter = (name: string, description: string): JsonSchema => ({
  type: "object",
  properties: { [name]: { type: "string", description } },
  required: [name],
  additionalProperties: false,
});
