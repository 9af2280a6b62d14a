import type { Fault } from "../../domain/errors.ts";
import { hasBrokenReference, referencesIn } from "../../domain/secret-reference.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { checkHeaders, EgressError } from "../../lib/egress.ts";
import type { UpdateTool } from "./schema.ts";
import { mask } from "./types/fields.ts";
import type { Definition, Known, ToolInput, ToolKind } from "./types/tool-kind.ts";

/** Replaces masked values by the stored ones. */
export const unmasked = (headers: Record<string, string>, before: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === mask ? (before[name] ?? mask) : value]),
  );

/** Returns the secrets that an input gives: its headers, or its password. Undefined if it gives none. */
export function secretsIn(
  { headers, password }: Pick<ToolInput, "headers" | "password">,
  { sends }: Pick<ToolKind, "sends">,
): Record<string, string> | undefined {
  if (sends?.secretField !== "password") return headers;
  if (password === undefined) return undefined;
  return password === "" ? {} : { password };
}

const paramOf = ({ sends }: Pick<ToolKind, "sends">, name: string): string =>
  sends?.secretField === "password" ? "password" : `headers.${name}`;

/** Throws if headers would be sent to another origin: their author meant the former one and may be another person. */
export function checkOrigin(input: UpdateTool, kind: ToolKind, before: Definition): void {
  const { sends } = kind;
  const to = sends && input[sends.field];
  if (!sends || to === undefined) return;
  const { address: from, header_names, query_names = [], oauth_client_id } = sends.to(before);
  if (originOf(to) === originOf(from)) return;
  if (oauth_client_id !== undefined && input.auth === undefined)
    throw invalid(
      "auth",
      "The URL has a new origin: send auth again, since its tokens were meant for the old one.",
      "required",
    );
  requireAnew(kind, header_names, secretsIn(input, kind), sends.secretField);
  requireAnew(kind, query_names, input.query, "query");
}

function requireAnew(
  kind: ToolKind,
  stored: readonly string[],
  given: Record<string, string> | undefined,
  param: "headers" | "password" | "query",
): void {
  if (stored.length === 0) return;
  const what = param === "password" ? "password again, since it was" : `${param} again, since their values were`;
  const message = `The URL has a new origin: send the ${what} meant for the old one.`;
  if (!given) throw invalid(param, message, "required");
  const maskedNames = Object.keys(given).filter((name) => given[name] === mask);
  throwIfInvalid(maskedNames.map((name) => fault(param === "query" ? `query.${name}` : paramOf(kind, name), message)));
}

// The URL class gives the origin "null" for every `stdio:` address.
const originOf = (address: string): string => (/^https?:/i.test(address) ? new URL(address).origin : address);

/** Faults of a tool's headers or password; `before` is null for a new tool. */
export function secretFaults(
  headers: Record<string, string>,
  kind: ToolKind,
  before: Definition | null,
  { hasSecret }: Pick<Known, "hasSecret">,
): Fault[] {
  const { sends } = kind;
  const known = before && sends ? sends.to(before).header_names : [];
  const faults = Object.entries(headers).flatMap(([name, value]) => {
    // The tool's own value would be overwritten.
    const isOwn = sends?.ownHeaders.includes(name.toLowerCase());
    const param = paramOf(kind, name);
    return [
      ...(isOwn ? [fault(param, "The server sets this header on every call.")] : []),
      ...valueFaults(param, value, known.includes(name), hasSecret),
    ];
  });
  if (sends?.secretField === "password") return faults;
  try {
    checkHeaders(headers);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    faults.push(fault("headers", error.message));
  }
  return faults;
}

/** Faults of a tool's query parameters; `before` is null for a new tool. */
export function queryFaults(
  query: Record<string, string>,
  { sends }: ToolKind,
  before: Definition | null,
  { hasSecret }: Pick<Known, "hasSecret">,
): Fault[] {
  const known = (before && sends?.to(before).query_names) ?? [];
  return Object.entries(query).flatMap(([name, value]) =>
    valueFaults(`query.${name}`, value, known.includes(name), hasSecret),
  );
}

function valueFaults(param: string, value: string, isKnown: boolean, hasSecret: Known["hasSecret"]): Fault[] {
  const messages: string[] = [];
  if (hasBrokenReference(value)) messages.push("Write a secret as {{secret.NAME}}, without spaces.");
  for (const secret of referencesIn(value)) if (!hasSecret(secret)) messages.push(`There is no secret ${secret}.`);
  if (value === mask && !isKnown) messages.push("There is no value to keep.");
  return messages.map((message) => fault(param, message));
}
