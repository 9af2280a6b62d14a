import type { ToolType } from "../core/agent-snapshot.ts";
import type { Fault } from "../core/errors.ts";
import { fault, validationError } from "../http/errors.ts";
import { checkSchema } from "../lib/json-schema.ts";
import { namesIn, templateFault } from "../lib/url-template.ts";
import type { SandboxLevel } from "../sandbox/program.ts";
import { stdioName } from "./address.ts";
import { codeFaults } from "./check-code.ts";
import { type Definition, headerNames } from "./definition.ts";
import { headerFaults } from "./headers.ts";
import { strangeFieldFaults } from "./own-fields.ts";
import { parameterFaults } from "./parameters.ts";
import type { UpdateTool } from "./schema.ts";

/** What there is that a tool may refer to. */
export interface Known {
  hasSecret(name: string): boolean;
  hasAgent(id: string): boolean;
  /** In the order of the ids; throws with a fault for each that is none. */
  files(ids: readonly string[]): readonly { filename: string }[];
  /** Whether the operator configured an MCP server of this name. */
  hasStdioServer(name: string): boolean;
  sandboxLevel: SandboxLevel;
}

/** Throws with every fault of what a client wants a tool to be; `before` is null for a new one. */
export function checkTool(input: UpdateTool, type: ToolType, before: Definition | null, known: Known): void {
  const faults = strangeFieldFaults(input, type);
  if (type === "http" || type === "webhook") faults.push(...urlFaults(input, type, before));
  if (type === "code") faults.push(...codeFaults(input, before, known));
  if (type === "mcp") faults.push(...serverFaults(input, before, known));
  if (type === "agent") faults.push(...agentFaults(input, before, known));
  // Those of code tools have bounds of their own.
  if (type !== "code" && input.timeout_ms !== undefined && input.timeout_ms < 1000)
    faults.push(fault("timeout_ms", "Expected integer to be greater or equal to 1000."));
  if (input.parameters && type !== "mcp" && type !== "agent") faults.push(...parameterFaults(input.parameters));
  if (typeof input.approval === "object")
    for (const message of checkSchema(input.approval.when)) faults.push(fault("approval.when", `${message}.`));
  if (input.headers) {
    const headers = before ? headerNames(before) : [];
    faults.push(...headerFaults(input.headers, type, { headers, hasSecret: known.hasSecret }));
  }
  if (faults.length > 0) throw validationError(faults);
}

const inAddress = "Secrets go into headers: addresses are shown to whoever may read tools.";

function urlFaults(input: UpdateTool, type: ToolType, before: Definition | null): Fault[] {
  const { url } = input;
  if (url === undefined && !before)
    return [fault("url", `${type === "http" ? "An HTTP" : "A webhook"} tool needs a URL.`, "required")];
  if (url?.includes("{{secret.")) return [fault("url", inAddress)];
  if (type === "webhook")
    return /[{}]/.test(url ?? "") ? [fault("url", "The URL of a webhook tool has no arguments in it.")] : [];
  return templateFaults(input, before);
}

/** What a call could not fill: also where only the one or the other of URL and parameters is changed. */
function templateFaults({ url, parameters }: UpdateTool, before: Definition | null): Fault[] {
  if (url === undefined && parameters === undefined) return [];
  const template = url ?? before?.http?.url ?? "";
  const unclear = templateFault(template);
  if (unclear !== null) return [fault("url", unclear)];
  const schema = parameters ?? before?.parameters ?? {};
  return namesIn(template).flatMap((name) => {
    const message = argumentFault(schema, name);
    return message === null ? [] : [fault(url === undefined ? "parameters" : "url", message)];
  });
}

function argumentFault(schema: Record<string, unknown>, name: string): string | null {
  // What a reference or an alternative says is not looked into: a call that lacks the argument will say so.
  if (["$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"].some((keyword) => keyword in schema)) return null;
  const properties = (schema.properties ?? {}) as Record<string, { type?: unknown } | boolean>;
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (property === undefined) return `The URL names {${name}}, which the parameters do not have.`;
  const isPlain = typeof property === "boolean" || (property.type !== "array" && property.type !== "object");
  return isPlain ? null : `The URL names {${name}}: in a URL there is a text, a number or a boolean.`;
}

function serverFaults(input: UpdateTool, before: Definition | null, { hasStdioServer }: Known): Fault[] {
  const faults: Fault[] = [];
  const address = input.server_url ?? before?.mcp?.server_url;
  if (address === undefined)
    faults.push(fault("server_url", "An MCP tool needs the address of its server.", "required"));
  if (input.server_url?.includes("{{secret.")) faults.push(fault("server_url", inAddress));
  const name = stdioName(address ?? "");
  if (name !== null && input.server_url !== undefined && !hasStdioServer(name))
    faults.push(fault("server_url", "The operator of this server has configured no MCP server of this name."));
  if (name !== null && Object.keys(input.headers ?? {}).length > 0)
    faults.push(fault("headers", "A server that the operator configured is sent no headers."));
  if (input.parameters) faults.push(fault("parameters", "Each tool of an MCP server has the parameters that it says."));
  return faults;
}

function agentFaults(input: UpdateTool, before: Definition | null, { hasAgent }: Known): Fault[] {
  const faults: Fault[] = [];
  if (input.agent_id === undefined && !before)
    faults.push(fault("agent_id", "An agent tool needs an agent.", "required"));
  if (input.agent_id !== undefined && !hasAgent(input.agent_id))
    faults.push(fault("agent_id", "There is no such agent."));
  if (input.parameters) faults.push(fault("parameters", "An agent is asked in words: its one parameter is input."));
  return faults;
}
