import { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { parseExact } from "../lib/exact-numbers.ts";
import {
  findDangerousKey,
  findInfiniteNumber,
  isSparse,
  lossOf,
  mayHoldDangerousKey,
  sparseFault,
  type Weight,
  weigh,
} from "../lib/json-limits.ts";

/** What the parts of one body have taken so far. */
export interface Taken extends Pick<Weight, "places"> {
  bytes: number;
}

export const nothingTaken = (): Taken => ({ bytes: 0, places: 0 });

/** What bytes of JSON say, within the limits. Where they are a part of a body, `most` is how deep that may be as a whole. */
export function parseJson(
  bytes: Uint8Array,
  depth: number = limits.json_depth,
  most = depth,
  taken: Taken = nothingTaken(),
): unknown {
  const weight = weigh(bytes, depth);
  if (weight === null) throw tooDeep(most);
  if (weight.numbers > limits.json_numbers) throw tooManyNumbers();
  taken.bytes += bytes.length;
  taken.places += weight.places;
  if (isSparse(taken, taken.bytes)) throw new AppError("invalid_json", sparseFault);
  const text = decode(bytes);
  const value = parse(text);
  const loss = lossOf(text, weight.members, value);
  if (loss !== null) throw lossy(loss, findInfiniteNumber(value));
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
export const lossy = (loss: string, param: string | null = null) =>
  new AppError("invalid_json", `The body would not be read as it was meant. ${loss}`, { param });
