import { AppError } from "../domain/errors.ts";
import { limits } from "../domain/limits.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import {
  findDangerousKey,
  findInfiniteNumber,
  isSparse,
  type JsonCost,
  jsonCost,
  lossOf,
  mayHoldDangerousKey,
  sparseFault,
} from "../lib/json-limits.ts";

/** Size of the parsed parts of a body so far. */
export interface ParsedSize extends Pick<JsonCost, "places"> {
  bytes: number;
}

export const emptySize = (): ParsedSize => ({ bytes: 0, places: 0 });

/**
 * Parses JSON within the limits. For a part of a body, `most` is the depth limit of the whole, for the error message.
 */
export function parseJson(
  bytes: Uint8Array,
  depth: number = limits.json_depth,
  most = depth,
  totalSize: ParsedSize = emptySize(),
): unknown {
  const weight = jsonCost(bytes, depth);
  if (weight === null) throw tooDeep(most);
  if (weight.numbers > limits.json_numbers) throw tooManyNumbers();
  totalSize.bytes += bytes.length;
  totalSize.places += weight.places;
  if (isSparse(totalSize, totalSize.bytes)) throw new AppError("invalid_json", sparseFault);
  const text = decode(bytes);
  const value = parse(text);
  const loss = lossOf(text, weight.members, value);
  if (loss !== null) throw lossyJson(loss, findInfiniteNumber(value));
  const key = mayHoldDangerousKey(text) ? findDangerousKey(value) : null;
  if (key !== null) {
    const fault = { param: key, code: "forbidden_key", message: `${key}: this key is not allowed.` };
    throw new AppError("validation_failed", fault.message, { param: key, errors: [fault] });
  }
  return value;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new AppError("invalid_json", "The body is not valid UTF-8.", { cause });
  }
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch (cause) {
    throw notJson(cause);
  }
}

export const notJson = (cause?: unknown) => new AppError("invalid_json", "The body is not valid JSON.", { cause });
export const tooDeep = (most: number) => new AppError("invalid_json", `The body nests deeper than ${most}.`);
export const tooManyNumbers = () =>
  new AppError("invalid_json", `An object in it has more than ${limits.json_numbers} names that are whole numbers.`);
export const lossyJson = (loss: string, param: string | null = null) =>
  new AppError("invalid_json", `The body would not be read as it was meant. ${loss}`, { param });
