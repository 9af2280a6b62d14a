import type { Fault } from "../../domain/errors.ts";
import { hasBrokenReference, referencesIn } from "../../domain/secret-reference.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { checkHeaders, EgressError } from "../../lib/egress.ts";
import type { UpdateTool } from "./schema.ts";
import { mask } from "./types/fields.ts";
import type { Definition, Known, ToolKind } from "./types/tool-kind.ts";

/** Replaces masked values by the stored ones. */
export const unmasked = (headers: Record<string, string>, before: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === mask ? (before[name] ?? mask) : value]),
  );

/** Throws if headers would be sent to another origin: their author meant the former one and may be another person. */
export function checkOrigin(input: UpdateTool, { sends }: ToolKind, before: Definition): void {
  const to = sends && input[sends.field];
  if (!sends || to === undefined) return;
  const { address: from, header_names, oauth_client_id } = sends.to(before);
  const { headers } = input;
  if (originOf(to) === originOf(from)) return;
  if (oauth_client_id !== undefined && input.auth === undefined)
    throw invalid(
      "auth",
      "The URL has a new origin: send auth again, since its tokens were meant for the old one.",
      "required",
    );
  if (header_names.length === 0) return;
  const message = "The URL has a new origin: send the headers again, since their values were meant for the old one.";
  if (!headers) throw invalid("headers", message, "required");
  const maskedNames = Object.keys(headers).filter((name) => headers[name] === mask);
  throwIfInvalid(maskedNames.map((name) => fault(`headers.${name}`, message)));
}

// The URL class gives the origin "null" for every `stdio:` address.
const originOf = (address: string): string => (/^https?:/i.test(address) ? new URL(address).origin : address);

/** Faults of a tool's headers; `before` is null for a new tool. */
export function headerFaults(
  headers: Record<string, string>,
  { sends }: ToolKind,
  before: Definition | null,
  { hasSecret }: Pick<Known, "hasSecret">,
): Fault[] {
  const known = before && sends ? sends.to(before).header_names : [];
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    const messages: string[] = [];
    // The tool's own value would be overwritten.
    if (sends?.ownHeaders.includes(name.toLowerCase())) messages.push("The server sets this header on every call.");
    if (hasBrokenReference(value)) messages.push("Write a secret as {{secret.NAME}}, without spaces.");
    for (const secret of referencesIn(value)) if (!hasSecret(secret)) messages.push(`There is no secret ${secret}.`);
    if (value === mask && !known.includes(name)) messages.push("There is no value to keep.");
    return messages.map((message) => fault(`headers.${name}`, message));
  });
  try {
    checkHeaders(headers);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    faults.push(fault("headers", error.message));
  }
  return faults;
}
