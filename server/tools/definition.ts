import type { ApprovalRule, ToolSnapshot, ToolType } from "../core/agent-snapshot.ts";
import { AppError, type Fault } from "../core/errors.ts";
import type { Environment } from "../core/scope.ts";
import { fault, validationError } from "../http/errors.ts";
import { checkHeaders, type Egress, EgressError } from "../lib/egress.ts";
import { checkSchema } from "../lib/json-schema.ts";
import { httpFields, type UpdateTool } from "./schema.ts";
import { hasBrokenReference, referencesIn } from "./secret-reference.ts";

/** What stands in a tool's row, but for its name and its secrets. */
export interface Definition {
  description: string;
  parameters: Record<string, unknown>;
  approval: ApprovalRule;
  on_unknown: ToolSnapshot["on_unknown"];
  max_output_bytes: number;
  enabled: boolean;
  http: HttpDefinition | null;
}

interface HttpDefinition {
  url: string;
  method: string;
  timeout_ms: number;
  retries: number;
  response: "json" | "text";
  /** Null: by the method. */
  idempotent: boolean | null;
  header_names: string[];
}

/** What a header's value looks like to whoever may not read it. Sent back, it keeps the value. */
export const mask = "********";

const defaults: Definition = {
  description: "",
  parameters: { type: "object", properties: {} },
  approval: "never",
  on_unknown: "ask",
  max_output_bytes: 262_144,
  enabled: true,
  http: null,
};
const httpDefaults = { method: "POST", timeout_ms: 30_000, retries: 0, response: "json", idempotent: null } as const;

/** A definition with changes, over an earlier one or over the defaults. */
export function changed(input: UpdateTool, type: ToolType, before: Definition | null): Definition {
  const base = before ?? defaults;
  return {
    description: input.description ?? base.description,
    parameters: input.parameters ?? base.parameters,
    approval: (input.approval as ApprovalRule | undefined) ?? base.approval,
    on_unknown: input.on_unknown ?? base.on_unknown,
    max_output_bytes: input.max_output_bytes ?? base.max_output_bytes,
    enabled: input.enabled ?? base.enabled,
    http: type === "http" ? changedHttp(input, base.http) : null,
  };
}

function changedHttp(input: UpdateTool, before: HttpDefinition | null): HttpDefinition {
  const base = before ?? { ...httpDefaults, url: "", header_names: [] };
  return {
    url: input.url ?? base.url,
    method: input.method ?? base.method,
    timeout_ms: input.timeout_ms ?? base.timeout_ms,
    retries: input.retries ?? base.retries,
    response: input.response ?? base.response,
    idempotent: input.idempotent ?? base.idempotent,
    header_names: input.headers ? Object.keys(input.headers) : base.header_names,
  };
}

/** HTTP's own word on what may be sent twice, unless the tool says otherwise. */
export const isIdempotent = ({ method, idempotent }: HttpDefinition): boolean =>
  idempotent ?? ["GET", "HEAD", "PUT", "DELETE"].includes(method);

/** Headers with the values that they shall have from now on. */
export const unmasked = (headers: Record<string, string>, before: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value === mask ? (before[name] ?? mask) : value]),
  );

/** Throws when a tool is to send its headers to another origin: whoever wrote them meant the one before, and may be somebody else. */
export function checkOrigin({ url, headers }: UpdateTool, http: HttpDefinition | null): void {
  if (url === undefined || !http || http.header_names.length === 0) return;
  if (new URL(url).origin === new URL(http.url).origin) return;
  const message = "With another origin, headers are given again: their values were meant for the one before.";
  if (!headers) throw validationError([fault("headers", message, "required")]);
  const kept = Object.keys(headers).filter((name) => headers[name] === mask);
  if (kept.length > 0) throw validationError(kept.map((name) => fault(`headers.${name}`, message)));
}

/** What is there already: the tool's headers, and named secrets. */
export interface Known {
  headers: readonly string[];
  hasSecret(name: string): boolean;
}

/** Throws with every fault of what a client wants a tool to be. */
export function checkTool(input: UpdateTool, type: ToolType, isNew: boolean, known: Known): void {
  const faults: Fault[] = [];
  if (type === "client")
    for (const name of httpFields) if (name in input) faults.push(fault(name, "Only HTTP tools have this."));
  if (type === "http" && isNew && input.url === undefined)
    faults.push(fault("url", "An HTTP tool needs a URL.", "required"));
  if (input.url?.includes("{{secret."))
    faults.push(fault("url", "Secrets go into headers: addresses are shown to whoever may read tools."));
  if (input.parameters) faults.push(...parameterFaults(input.parameters));
  if (typeof input.approval === "object")
    for (const message of checkSchema(input.approval.when)) faults.push(fault("approval.when", `${message}.`));
  if (input.headers) faults.push(...headerFaults(input.headers, known));
  if (faults.length > 0) throw validationError(faults);
}

function parameterFaults(parameters: Record<string, unknown>): Fault[] {
  const faults = checkSchema(parameters).map((message) => fault("parameters", `${message}.`));
  if (parameters.type !== "object")
    faults.push(fault("parameters.type", 'Arguments are an object: this must be "object".'));
  return faults;
}

// A call replaces these: what the tool had declared would never arrive.
const ownHeaders = new Set([
  "idempotency-key",
  "x-run-id",
  "x-tool-call-id",
  "webhook-id",
  "webhook-timestamp",
  "webhook-signature",
]);

function headerFaults(headers: Record<string, string>, known: Known): Fault[] {
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(headers)) {
    if (ownHeaders.has(name.toLowerCase()))
      faults.push(fault(`headers.${name}`, "Every call sets this header itself."));
    if (hasBrokenReference(value))
      faults.push(fault(`headers.${name}`, "A secret is referred to as {{secret.NAME}}, without blanks."));
    for (const secret of referencesIn(value).filter((secret) => !known.hasSecret(secret)))
      faults.push(fault(`headers.${name}`, `There is no secret ${secret}.`));
    if (value === mask && !known.headers.includes(name))
      faults.push(fault(`headers.${name}`, "There is no value to keep."));
  }
  try {
    checkHeaders(headers);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    faults.push(fault("headers", error.message));
  }
  return faults;
}

/** Early word on an address that calls could never reach; every call is judged again. */
export async function checkUrl(url: string, egress: Pick<Egress, "check">, environment: Environment): Promise<void> {
  try {
    await egress.check(url, { httpsOnly: environment === "live" });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    // A name that does not resolve today may do so tomorrow, and the call will be judged by what it resolves to.
    if (error.code === "dns_failed" || error.code === "dns_timeout") return;
    if (error.code === "url_invalid" || error.code === "credentials_in_url")
      throw validationError([fault("url", error.message)]);
    throw new AppError("url_not_allowed", error.message, { param: "url" });
  }
}
