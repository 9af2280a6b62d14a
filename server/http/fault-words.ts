import { ValueErrorType } from "@sinclair/typebox/errors";
import { withOr } from "../lib/with-or.ts";
import { patternWords } from "./pattern-words.ts";

interface Violation {
  type: ValueErrorType;
  message: string;
  schema: Record<string, unknown>;
}

/** Types of JSON values with their article. */
const typeNames: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "an integer",
  boolean: "a boolean",
  array: "a list",
  object: "an object",
  null: "null",
};

/** Returns the types in words: "Must be a string or null." */
export const typeWords = (types: readonly string[]): string =>
  `Must be ${withOr(types.map((type) => typeNames[type] ?? type))}.`;

const counted = (count: unknown, thing: string): string => `${count} ${thing}${count === 1 ? "" : "s"}`;

/** Returns what a value must be, as a sentence that names no parameter, from the rule of its schema that it breaks. */
export function faultWords({ type, schema, message }: Violation): string {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  switch (type) {
    case ValueErrorType.NumberMinimum:
    case ValueErrorType.IntegerMinimum:
      return `Must be at least ${minimum}.`;
    case ValueErrorType.NumberMaximum:
    case ValueErrorType.IntegerMaximum:
      return `Must be at most ${maximum}.`;
    case ValueErrorType.NumberExclusiveMinimum:
    case ValueErrorType.IntegerExclusiveMinimum:
      return `Must be more than ${exclusiveMinimum}.`;
    case ValueErrorType.NumberExclusiveMaximum:
    case ValueErrorType.IntegerExclusiveMaximum:
      return `Must be less than ${exclusiveMaximum}.`;
    case ValueErrorType.NumberMultipleOf:
    case ValueErrorType.IntegerMultipleOf:
      return `Must be a multiple of ${multipleOf}.`;
    case ValueErrorType.StringMinLength:
      return schema.minLength === 1
        ? "Must not be empty."
        : `Must have at least ${counted(schema.minLength, "character")}.`;
    case ValueErrorType.StringMaxLength:
      return `Must have at most ${counted(schema.maxLength, "character")}.`;
    case ValueErrorType.ArrayMinItems:
      return schema.minItems === 1 ? "Must not be empty." : `Must have at least ${counted(schema.minItems, "item")}.`;
    case ValueErrorType.ArrayMaxItems:
      return `Must have at most ${counted(schema.maxItems, "item")}.`;
    case ValueErrorType.ArrayUniqueItems:
      return "Must not have an item twice.";
    case ValueErrorType.ObjectMinProperties:
      return schema.minProperties === 1
        ? "Must not be empty."
        : `Must have at least ${counted(schema.minProperties, "field")}.`;
    case ValueErrorType.ObjectMaxProperties:
      return `Must have at most ${counted(schema.maxProperties, "field")}.`;
    case ValueErrorType.Literal:
      return `Must be ${JSON.stringify(schema.const)}.`;
    case ValueErrorType.StringFormat:
      return schema.format === "date-time" ? "Must be a time such as `2026-11-21T01:20:00.123Z`." : `${message}.`;
    case ValueErrorType.StringPattern:
      return patternWords(schema) ?? "Does not have the form that the reference describes.";
    default:
      return typeof schema.type === "string" && schema.type in typeNames ? typeWords([schema.type]) : `${message}.`;
  }
}
