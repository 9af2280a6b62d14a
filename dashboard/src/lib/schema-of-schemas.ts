import type { AnySchema } from "./schema-walk.ts";

const schema = { $ref: "#/$defs/schema" };
const schemas = { type: "array", items: schema };
const schemaMap = { type: "object", additionalProperties: schema };
const count = { type: "integer" };
const number = { type: "number" };
const withDescription = (description: string, keywords: AnySchema): AnySchema => ({ description, ...keywords });
const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Schema of the JSON Schema keywords that the editor suggests. Other keywords are allowed. */
export const schemaOfSchemas: AnySchema = {
  ...schema,
  $defs: {
    schema: {
      type: ["object", "boolean"],
      properties: {
        type: withDescription("Which kind of value it is; a list allows several.", {
          anyOf: [{ enum: types }, { type: "array", items: { enum: types } }],
        }),
        description: withDescription("Tells the model what the field means.", { type: "string" }),
        properties: withDescription("The fields of an object, by name.", schemaMap),
        required: withDescription("Names of the fields that must not be missing.", {
          type: "array",
          items: { type: "string" },
        }),
        additionalProperties: withDescription("Whether, or how, an object may have other fields.", schema),
        items: withDescription("What each item of a list is.", schema),
        enum: withDescription("The only values allowed.", { type: "array" }),
        const: withDescription("The only value allowed.", {}),
        default: withDescription("The value used when the field is missing.", {}),
        examples: withDescription("Example values.", { type: "array" }),
        format: withDescription("Such as date, date-time, email, uri or uuid.", { type: "string" }),
        pattern: withDescription("A regular expression that the text matches.", { type: "string" }),
        minLength: withDescription("The fewest characters.", count),
        maxLength: withDescription("The most characters.", count),
        minimum: withDescription("The smallest number.", number),
        maximum: withDescription("The largest number.", number),
        exclusiveMinimum: withDescription("All numbers are above it.", number),
        exclusiveMaximum: withDescription("All numbers are below it.", number),
        multipleOf: withDescription("All numbers are multiples of it.", number),
        minItems: withDescription("The fewest items.", count),
        maxItems: withDescription("The most items.", count),
        uniqueItems: withDescription("Whether no item may occur twice.", { type: "boolean" }),
        anyOf: withDescription("Fits at least one of these.", schemas),
        oneOf: withDescription("Fits exactly one of these.", schemas),
        allOf: withDescription("Fits all of these.", schemas),
        not: withDescription("Does not fit this.", schema),
        $ref: withDescription('Another part of this schema, such as "#/$defs/address".', { type: "string" }),
        $defs: withDescription("Parts that others refer to.", schemaMap),
      },
    },
  },
};
