import type { Schema } from "../../entities/server/openapi-api.ts";

/** Returns the limits of a value in words: `1 to 255 characters`, `above 0, at most 1,000,000`, `default 20`. */
export function limitWords(schema: Schema): string {
  const { minLength, maxLength, minItems, maxItems, minimum, maximum, exclusiveMinimum, pattern } = schema;
  const prefix = /^\^([a-z]+_)\[/.exec(pattern ?? "")?.[1];
  return [
    prefix && `id ${prefix}…`,
    between(minLength, maxLength, "characters"),
    between(minItems, maxItems, "items"),
    exclusiveMinimum !== undefined && `above ${formatNumber(exclusiveMinimum)}`,
    between(minimum, maximum, ""),
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ]
    .filter(Boolean)
    .join(", ");
}

function between(min: number | undefined, max: number | undefined, unit: string): string {
  const suffix = [unit].filter(Boolean);
  if (min && max !== undefined) return [`${formatNumber(min)} to ${formatNumber(max)}`, ...suffix].join(" ");
  if (max !== undefined) return [`at most ${formatNumber(max)}`, ...suffix].join(" ");
  return min ? [`at least ${formatNumber(min)}`, ...suffix].join(" ") : "";
}

const formatNumber = (value: number): string => value.toLocaleString("en");
