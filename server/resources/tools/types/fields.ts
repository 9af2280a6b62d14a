import { Type } from "@sinclair/typebox";
import type { Fault } from "../../../domain/errors.ts";
import type { JsonSchema } from "../../../domain/model-call.ts";
import { fault } from "../../../http/errors.ts";
import { checkSchema } from "../../../lib/json-schema.ts";
import { about, named } from "../../../lib/schema.ts";
import type { ToolInput } from "./tool-kind.ts";

// Fields that several types have.

export const addressField = Type.String({ minLength: 1, maxLength: 2048 });

export const headersField = about(
  "Headers of every call; `{{secret.NAME}}` in a value stands for a secret.",
  named(
    "ToolHeaders",
    Type.Record(Type.String({ pattern: "^[\\s\\S]{1,256}$" }), Type.String({ maxLength: 8192 }), {
      maxProperties: 50,
      additionalProperties: false,
    }),
  ),
);

export const timeoutField = about(
  "How long an attempt may take, in milliseconds.",
  Type.Integer({ minimum: 100, maximum: 600_000 }),
);

export const usualTimeout_ms = 30_000;

/** For requests; types with shorter timeouts have their own bounds. */
export const timeoutFaults = ({ timeout_ms }: ToolInput): Fault[] =>
  timeout_ms !== undefined && timeout_ms < 1000
    ? [fault("timeout_ms", "Expected integer to be greater or equal to 1000.")]
    : [];

/** Faults of a tool's parameter schema. */
export const parameterFaults = ({ parameters }: ToolInput): Fault[] => schemaFaults(parameters, "parameters");

/**
 * Faults of a schema in this parameter. Patterns that cannot be run safely are none, because generators of schemas write
 * them for usual types such as e-mail addresses: the model reads them, and nothing checks them.
 */
export function schemaFaults(parameters: JsonSchema | undefined, param: string): Fault[] {
  if (!parameters) return [];
  const faults = checkSchema(parameters, { patterns: "unchecked" }).map((message) => fault(param, `${message}.`));
  if (parameters.type !== undefined && parameters.type !== "object")
    faults.push(fault(`${param}.type`, 'Arguments are an object: this must be "object", or left out.'));
  return faults;
}

/** Fault of an address that contains a secret. */
export const secretInAddress = (field: string): Fault =>
  fault(field, "Put secrets into headers: URLs are shown to everyone who can read tools.");

/** Mask of a header's value. Sent back, it keeps the stored value. */
export const mask = "********";

export const masked = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, mask]));

/** Schema with a single text parameter. */
export const textParameter = (name: string, description: string): JsonSchema => ({
  type: "object",
  properties: { [name]: { type: "string", description } },
  required: [name],
  additionalProperties: false,
});
