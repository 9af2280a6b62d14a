import { ValueErrorType } from "@sinclair/typebox/errors";
import { ParseError, ValidationError } from "elysia";
import { missingParameter, unknownParameter } from "../domain/error-messages.ts";
import { AppError, type Fault } from "../domain/errors.ts";
import { namedInPaths, wellFormedText } from "../domain/fields.ts";
import { notFound } from "../domain/not-found.ts";
import { isExactNumber } from "../lib/exact-numbers.ts";
import { dotted } from "../lib/json-schema.ts";
import { sseError } from "../lib/sse.ts";
import { isDiskFull } from "../storage/db/disk-guard.ts";
import { faultWords, typeWords } from "./fault-words.ts";
import { patternWords } from "./pattern-words.ts";
import "./validator-settings.ts";

/**
 * Converts any thrown value into the error that the client sees. A bug becomes `internal_error`; its cause is logged.
 */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof ParseError) return toAppError(error.cause); // Thrown by a hook before parsing.
  if (error instanceof ValidationError && error.type !== "response") return fromValidation(error);
  if (isDiskFull(error))
    return new AppError("storage_full", "The server's disk is full. Nothing was written.", {
      cause: error,
      retryAfter: 30,
    });
  return new AppError("internal_error", "Something went wrong here. The log names this request.", { cause: error });
}

/** Returns the public base URL of this server, without a path: `https://api.example.com`. */
export type PublicUrl = () => string;

/** Error object of the API without `request_id`. `doc_url` leads to the documentation under `publicUrl`. */
export const errorBody = (error: AppError, publicUrl: PublicUrl) => ({
  error: {
    type: error.type,
    code: error.code,
    message: error.message,
    param: error.param,
    doc_url: `${publicUrl()}/docs/reference/errors/${error.type}#${error.code}`,
    ...(error.errors && { errors: error.errors }),
    ...(error.details && { details: error.details }),
  },
});

/** The event by which a stream reports its error before it ends. */
export const errorEvent = (error: AppError, publicUrl: PublicUrl): string =>
  sseError(JSON.stringify(errorBody(error, publicUrl)));

/** Extra headers of an error response. */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.retryAfter !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfter)));
  if (closesConnection(error)) headers.connection = "close";
  return headers;
}

/** True if the connection closes after this response: the rest of the body is not read, or never comes. */
export const closesConnection = ({ status }: Pick<AppError, "status">): boolean =>
  status === 408 || status === 413 || status === 507;

/** Error with all faults found; code and message come from the first one. */
export function validationError(faults: readonly Fault[]): AppError {
  const [first] = faults;
  if (!first) throw new Error("A validation error without a fault.");
  const code = faults.every((fault) => fault.code === "unknown_parameter") ? "unknown_parameter" : "validation_failed";
  return new AppError(code, first.message, { param: first.param, errors: [...faults] });
}

/** Creates a fault whose message starts with the parameter's name. */
export const fault = (param: string, message: string, code = "invalid_value"): Fault => ({
  param,
  code,
  message: `${param}: ${message}`,
});

/** Throws if there is any fault. */
export function throwIfInvalid(faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationError(faults);
}

/** Error with a single fault. */
export const invalid = (param: string, message: string, code?: string): AppError =>
  validationError([fault(param, message, code)]);

const maxFaults = 100;
// An object with more names than this gets one fault for its size, and validation stops.
const manyNames = 1000;

interface SchemaError {
  type: ValueErrorType;
  path: string;
  message: string;
  value: unknown;
  schema: Record<string, unknown>;
  /** Errors of each member of a union. */
  errors?: Iterable<SchemaError>[];
}

function fromValidation(error: ValidationError): AppError {
  // An id that fails the pattern gets the same response as an unknown id, byte for byte.
  if (error.type === "params") return notFound();
  const faults = new Map<string, Fault>();
  for (const each of (error.validator as { Errors(value: unknown): Iterable<SchemaError> }).Errors(error.value)) {
    for (const fitting of errorsOfMember(each)) {
      // TypeBox reports a missing field a second time, as one of the wrong type.
      if (!faults.has(fitting.path)) faults.set(fitting.path, toFault(fitting));
      if (faults.size >= maxFaults) break;
    }
    if (faults.size >= maxFaults || isOverfull(each)) break;
  }
  return validationError([...faults.values()]);
}

/** First fault of a body that a protocol has validated itself. */
export function firstFault(errors: Iterable<SchemaError>): Fault {
  for (const each of errors) for (const fitting of errorsOfMember(each)) return toFault(fitting);
  return { param: null, code: "invalid_value", message: "This is no request." };
}

const isOverfull = ({ type, value }: SchemaError): boolean =>
  type === ValueErrorType.ObjectMaxProperties && Object.keys(value as object).length > manyNames;

/** Returns in words how the names of a map's fields must be. */
function nameWords(patternProperties: object): string {
  const [pattern] = Object.keys(patternProperties);
  const words = patternWords({ pattern })?.replace(/^Must /, "must ");
  return words ? `This name ${words}` : "This name is empty or too long.";
}

function toFault(fitting: SchemaError): Fault {
  const { path, message, schema, value } = fitting;
  const param = dotted(path);
  if (param === "") return { param: null, code: "invalid_value", message: `The body: ${faultWords(fitting)}` };
  const types = [schema, ...membersOf(fitting)].map(({ type }) => type);
  if (isExactNumber(value) && types.some((type) => type === "number" || type === "integer"))
    return fault(param, "This number would be read as another one: it has too many digits.");
  if (message === "Unexpected property")
    return schema.patternProperties
      ? fault(param, nameWords(schema.patternProperties as object))
      : fault(param, unknownParameter(nameOf(path), propertiesOf(schema)), "unknown_parameter");
  if (message === "Expected required property") return fault(param, missingParameter, "required");
  const choices = (schema.anyOf as { const?: unknown }[] | undefined)?.map((choice) => choice.const);
  if (choices?.every((choice) => typeof choice === "string"))
    return fault(param, `Must be one of ${choices.join(", ")}.`);
  const members = [...new Set(types.slice(1))];
  if (members.length > 0 && members.every((type) => typeof type === "string"))
    return fault(param, typeWords(members as string[]));
  if (schema.format === wellFormedText && !String(value).isWellFormed()) return fault(param, halfCharacter);
  if (schema.pattern === namedInPaths) return fault(param, otherIdExpected);
  return fault(param, faultWords(fitting));
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const propertiesOf = ({ properties }: Record<string, unknown>): string[] =>
  isRecord(properties) ? Object.keys(properties) : [];

const halfCharacter = "Must be an id without half a character (a lone surrogate).";

/** Message for an id chosen by the client that is refused. */
export const otherIdExpected = 'Must be another id than "." or "..".';

interface Member {
  type?: unknown;
  properties?: { type?: { const?: unknown } };
}

const membersOf = ({ schema }: SchemaError) => (schema.anyOf as Member[] | undefined) ?? [];

/** Yields the errors of a value; for a union, those of the member that the value is meant to be. */
function* errorsOfMember(error: SchemaError): Generator<SchemaError> {
  const tags = membersOf(error).map(({ properties }) => properties?.type?.const);
  if (tags.length > 0 && isRecord(error.value) && tags.every((tag) => typeof tag === "string")) {
    const { type } = error.value;
    if (!tags.includes(type as string)) {
      const anyOf = tags.map((tag) => ({ const: tag }));
      yield { ...error, path: `${error.path}/type`, value: type, schema: { anyOf } };
      return;
    }
  }
  let isEmpty = true;
  for (const each of error.errors?.[meantMember(error, tags)] ?? []) {
    isEmpty = false;
    yield* errorsOfMember(each);
  }
  if (isEmpty) yield error;
}

/**
 * Returns the index of the member that has the value's `type`, or is of its type; for a nullable field, that of the
 * other member, because "is not null" helps no client.
 */
function meantMember(error: SchemaError, tags: readonly unknown[]): number {
  const types = membersOf(error).map(({ type }) => type);
  if (isRecord(error.value) && tags.includes(error.value.type)) return tags.indexOf(error.value.type);
  const type = Array.isArray(error.value) ? "array" : typeof error.value;
  const same = types.indexOf(type) === types.lastIndexOf(type) ? types.indexOf(type) : -1; // -1 if several have it.
  if (same !== -1) return same;
  return types.length === 2 && types.includes("null") ? types.findIndex((type) => type !== "null") : -1;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Error of a name that several agents have, or might have; it shows ten of their ids. */
export const ambiguousAgent = (param: string, ids: readonly string[]): AppError =>
  new AppError("agent_ambiguous", "This name does not say which agent is meant.", {
    param,
    details: { agent_ids: ids.slice(0, 10) },
  });
