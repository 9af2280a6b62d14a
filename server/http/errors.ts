import { Policy } from "@sinclair/typebox/compiler";
import { ValueErrorIterator, ValueErrorType } from "@sinclair/typebox/errors";
import { TypeSystemPolicy } from "@sinclair/typebox/system";
import { ParseError, ValidationError } from "elysia";
import { AppError, type Fault } from "../core/errors.ts";
import { namedInPaths } from "../core/fields.ts";
import { notFound } from "../core/not-found.ts";
import { isDiskFull } from "../db/disk-full.ts";
import { isExactNumber } from "../lib/exact-numbers.ts";
import { dotted } from "../lib/json-schema.ts";
import { sseError } from "../lib/sse.ts";

/** Turns whatever was thrown into what the client may know. A bug becomes `internal_error`; its cause is for the log. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof ParseError) return toAppError(error.cause); // What a hook threw before the body was parsed.
  if (error instanceof ValidationError && error.type !== "response") return fromValidation(error);
  if (isDiskFull(error))
    return new AppError("storage_full", "The server's disk is full. Nothing was written.", {
      cause: error,
      retryAfter: 30,
    });
  return new AppError("internal_error", "Something went wrong here. The log names this request.", { cause: error });
}

/** Where this server is reached, without a path: `https://api.example.com`. */
export type PublicUrl = () => string;

/** The contract's error object, still without `request_id`. Its `doc_url` leads to the documentation at `publicUrl`. */
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

/** The event by which a stream says why it ends. */
export const errorEvent = (error: AppError, publicUrl: PublicUrl): string =>
  sseError(JSON.stringify(errorBody(error, publicUrl)));

/** Headers that belong to an error beside its body. */
export function errorHeaders(error: AppError): Record<string, string> {
  const headers: Record<string, string> = {};
  if (error.status === 401) headers["www-authenticate"] = "Bearer";
  if (error.retryAfter !== undefined) headers["retry-after"] = String(Math.max(1, Math.ceil(error.retryAfter)));
  if (closes(error)) headers.connection = "close";
  return headers;
}

/** Whether a connection ends with this answer: of its body more may come than anybody takes, or nothing any more. */
export const closes = ({ status }: Pick<AppError, "status">): boolean =>
  status === 408 || status === 413 || status === 507;

/** A refusal with every fault that was found; the first one speaks for all. */
export function validationError(faults: readonly Fault[]): AppError {
  const [first] = faults;
  if (!first) throw new Error("A validation error without a fault.");
  const code = faults.every((fault) => fault.code === "unknown_parameter") ? "unknown_parameter" : "validation_failed";
  return new AppError(code, first.message, { param: first.param, errors: [...faults] });
}

/** One fault, with its parameter's name before the sentence. */
export const fault = (param: string, message: string, code = "invalid_value"): Fault => ({
  param,
  code,
  message: `${param}: ${message}`,
});

/** Throws where there is any fault. */
export function refuse(faults: readonly Fault[]): void {
  if (faults.length > 0) throw validationError(faults);
}

/** A refusal of which this is the one fault. */
export const invalid = (param: string, message: string, code?: string): AppError =>
  validationError([fault(param, message, code)]);

// The framework writes all that was sent into the message of its error, several times and indented: of a megabyte for a quarter of
// a second. Nobody reads it. Where the schema of the first fault has a message of its own, it takes that.
const { First } = ValueErrorIterator.prototype;
ValueErrorIterator.prototype.First = function (this: ValueErrorIterator) {
  const error = First.call(this);
  return error && { ...error, schema: { ...error.schema, error: "" } };
};

// A number that is kept as its text is an object to this language. To schemas it is none: where any JSON may stand it is
// carried, and everywhere else it is refused.
for (const of of ["IsObjectLike", "IsRecordLike"] as const) {
  const [code, check] = [Policy[of], TypeSystemPolicy[of]];
  Policy[of] = (value) => `(${code(value)} && !JSON.isRawJSON(${value}))`;
  TypeSystemPolicy[of] = (value): value is Record<PropertyKey, unknown> => check(value) && !isExactNumber(value);
}

const maxFaults = 100;
// An object of more names than this has too many of them, and nothing else is looked for.
const manyNames = 1000;

interface SchemaError {
  type: ValueErrorType;
  path: string;
  message: string;
  value: unknown;
  schema: Record<string, unknown>;
  /** Of a union: what is wrong by each of its members. */
  errors?: Iterable<SchemaError>[];
}

function fromValidation(error: ValidationError): AppError {
  // An id that cannot be one is nothing that exists: the same answer, also to the last byte.
  if (error.type === "params") return notFound();
  const faults = new Map<string, Fault>();
  for (const each of (error.validator as { Errors(value: unknown): Iterable<SchemaError> }).Errors(error.value)) {
    for (const fitting of ofItsType(each)) {
      // A missing field is reported a second time as one of the wrong type.
      if (!faults.has(fitting.path)) faults.set(fitting.path, toFault(fitting));
      if (faults.size >= maxFaults) break;
    }
    if (faults.size >= maxFaults || isOverfull(each)) break;
  }
  return validationError([...faults.values()]);
}

/** What is wrong first with a body that a door has checked itself. */
export function firstFault(errors: Iterable<SchemaError>): Fault {
  for (const each of errors) for (const fitting of ofItsType(each)) return toFault(fitting);
  return { param: null, code: "invalid_value", message: "This is no request." };
}

const isOverfull = ({ type, value }: SchemaError): boolean =>
  type === ValueErrorType.ObjectMaxProperties && Object.keys(value as object).length > manyNames;

function toFault(fitting: SchemaError): Fault {
  const { path, message, schema, value } = fitting;
  const param = dotted(path);
  if (param === "") return { param: null, code: "invalid_value", message: `The body: ${sentence(message)}` };
  const types = [schema, ...membersOf(fitting)].map(({ type }) => type);
  if (isExactNumber(value) && types.some((type) => type === "number" || type === "integer"))
    return fault(param, "This number would be read as another one: it has too many digits.");
  if (message === "Unexpected property")
    return schema.patternProperties
      ? fault(param, "This name is empty or too long.")
      : fault(param, "There is no such parameter.", "unknown_parameter");
  if (message === "Expected required property") return fault(param, "This parameter is required.", "required");
  const choices = (schema.anyOf as { const?: unknown }[] | undefined)?.map((choice) => choice.const);
  if (choices?.every((choice) => typeof choice === "string"))
    return fault(param, `Expected one of ${choices.join(", ")}.`);
  const members = types.slice(1);
  if (members.length > 0 && members.every((type) => typeof type === "string"))
    return fault(param, `Expected one of the types ${members.join(", ")}.`);
  if (schema.pattern === namedInPaths) return fault(param, otherIdExpected);
  return fault(param, sentence(message));
}

/** Why an id that a client chose is not taken. */
export const otherIdExpected = 'Expected another id than "." or "..".';

const membersOf = ({ schema }: SchemaError) => (schema.anyOf as { type?: unknown }[] | undefined) ?? [];

/**
 * Of a field that may be of several types, what is wrong by the rule for the one that it has; of one that may be null,
 * by its other rule: that it is not null either helps nobody.
 */
function ofItsType(error: SchemaError): SchemaError[] {
  const members = membersOf(error);
  const types = members.map(({ type }) => type);
  const type = Array.isArray(error.value) ? "array" : typeof error.value;
  const same = types.indexOf(type) === types.lastIndexOf(type) ? types.indexOf(type) : -1; // Of several it could be any.
  const other = members.length === 2 && types.includes("null") ? types.findIndex((type) => type !== "null") : -1;
  const own = [...(error.errors?.[same === -1 ? other : same] ?? [])];
  return own.length > 0 ? own : [error];
}

const sentence = (message: string): string => (message.endsWith(".") ? message : `${message}.`);
