import type { AnySchema } from "./schema-walk.ts";

const schema = { $ref: "#/$defs/schema" };
const schemas = { type: "array", items: schema };
const named = { type: "object", additionalProperties: schema };
const count = { type: "integer" };
const number = { type: "number" };
const about = (description: string, said: AnySchema): AnySchema => ({ description, ...said });
const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** Schema of the JSON Schema keywords that the editor suggests. Other keywords are allowed. */
export const schemaOfSchemas: AnySchema = {
  ...schema,
  $defs: {
    schema: {
      type: ["object", "boolean"],
      properties: {
        type: about("Which kind of value it is; a list allows several.", {
          anyOf: [{ enum: types }, { type: "array", items: { enum: types } }],
        }),
        description: about("Tells the model what the field means.", { type: "string" }),
        properties: about("The fields of an object, by name.", named),
        required: about("Names of the fields that must not be missing.", { type: "array", items: { type: "string" } }),
        additionalProperties: about("Whether, or how, an object may have other fields.", schema),
        items: about("What each item of a list is.", schema),
        enum: about("The only values allowed.", { type: "array" }),
        const: about("The only value allowed.", {}),
        default: about("The value used when the field is missing.", {}),
        examples: about("Example values.", { type: "array" }),
        format: about("Such as date, date-time, email, uri or uuid.", { type: "string" }),
        pattern: about("A regular expression that the text matches.", { type: "string" }),
        minLength: about("The fewest characters.", count),
        maxLength: about("The most characters.", count),
        minimum: about("The smallest number.", number),
        maximum: about("The largest number.", number),
        exclusiveMinimum: about("All numbers are above it.", number),
        exclusiveMaximum: about("All numbers are below it.", number),
        multipleOf: about("All numbers are multiples of it.", number),
        minItems: about("The fewest items.", count),
        maxItems: about("The most items.", count),
        uniqueItems: about("Whether no item may occur twice.", { type: "boolean" }),
        anyOf: about("Fits at least one of these.", schemas),
        oneOf: about("Fits exactly one of these.", schemas),
        allOf: about("Fits all of these.", schemas),
        not: about("Does not fit this.", schema),
        $ref: about('Another part of this schema, such as "#/$defs/address".', { type: "string" }),
        $defs: about("Parts that others refer to.", named),
      },
    },
  },
};
