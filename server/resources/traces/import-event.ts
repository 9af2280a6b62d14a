import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { noSuch } from "../../domain/error-messages.ts";
import { eventFields, type RunEvent, type RunEventType } from "../../domain/run-event.ts";
import { closedObject } from "../../lib/schema.ts";

const checks = new Map<string, TypeCheck<TSchema>>();

/** Validates an imported event. Returns it, or its fault. */
export function readEvent(input: unknown): { event: RunEvent } | { path: string; message: string } {
  const type = typeof input === "object" && input !== null && "type" in input ? input.type : undefined;
  const check = typeof type === "string" ? checkOf(type) : null;
  if (!check) return { path: "type", message: noSuch("type of entry") };
  if (check.Check(input)) return { event: input as RunEvent };
  const fault = check.Errors(input).First();
  return { path: dotted(fault?.path ?? ""), message: `${fault?.message ?? "This entry does not match its type"}.` };
}

function checkOf(type: string): TypeCheck<TSchema> | null {
  if (!Object.hasOwn(eventFields, type)) return null;
  const known = checks.get(type);
  if (known) return known;
  const compiledCheck = TypeCompiler.Compile<TSchema>(
    closedObject({ type: Type.Literal(type), ...eventFields[type as RunEventType] }),
  );
  checks.set(type, compiledCheck);
  return compiledCheck;
}

/**
 * Converts a JSON pointer to the API's form of parameter names: `call.arguments`. Cut, because imported names may have
 * any length.
 */
export const dotted = (pointer: string): string => pointer.slice(1).replaceAll("/", ".").slice(0, 200);
