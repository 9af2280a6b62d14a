import type { McpOperation } from "../../domain/agent-snapshot.ts";
import type { JsonSchema } from "../../domain/model-call.ts";
import { unmaskedValue } from "../../lib/exact-masks.ts";
import { isObject } from "../../lib/json.ts";
import { jsonFault } from "../../lib/json-limits.ts";
import { checkSchema } from "../../lib/json-schema.ts";
import { beginning } from "./mcp-failure.ts";
import { modernSchema } from "./modern-schema.ts";
import { plainText } from "./plain-text.ts";

/** A server's tool that can be offered to a model. */
export interface McpTool {
  /** Name at the server. */
  name: string;
  description: string;
  parameters: JsonSchema;
  /** True if the server says that the tool is read-only or idempotent. */
  idempotent: boolean;
  /** True if the server takes calls only as tasks. */
  as_task?: true;
  /** For tools that read the server's resources and prompts. */
  operation?: McpOperation;
}

/** Tools of a server, and those that cannot be used. */
export interface McpListing {
  tools: McpTool[];
  skipped: { name: string; reason: string }[];
}

const limits = { tools: 128, name: 128, skipped: 32, description: 4096 };

/**
 * Collects tools page by page; `read` returns false once the limit is reached. Tools that are not allowed are ignored.
 */
export function createToolReader(allowed: readonly string[] | null) {
  const listing: McpListing = { tools: [], skipped: [] };
  const seen = new Map<unknown, string>();

  function skip(name: unknown, reason: string): void {
    const shown = beginning(plainText(String(name)), 64);
    if (listing.skipped.length < limits.skipped) listing.skipped.push({ name: shown, reason });
  }

  function read(page: readonly unknown[]): boolean {
    for (const item of page) {
      const tool: Raw = isObject(item) ? { ...item, inputSchema: modernSchema(unmaskedValue(item.inputSchema)) } : {};
      if (allowed && !allowed.includes(tool.name as string)) continue;
      const text = JSON.stringify(tool);
      // Some servers ignore cursors and list the same page again.
      if (seen.get(tool.name) === text) continue;
      if (listing.tools.length === limits.tools) {
        skip(tool.name, `The server has more than ${limits.tools} tools.`);
        return false;
      }
      const reason = seen.has(tool.name) ? "The server has two tools of this name." : faultOf(tool);
      if (reason) skip(tool.name, reason);
      else listing.tools.push(readTool(tool));
      if (!seen.has(tool.name)) seen.set(tool.name, text);
    }
    return true;
  }

  /** Adds a tool that reads resources or prompts, unless the server has one of its name. */
  function add(tool: McpTool): void {
    if (seen.has(tool.name) || listing.tools.length === limits.tools) return;
    if (allowed?.includes(tool.name) ?? true) listing.tools.push(tool);
  }

  return { listing, read, add };
}

type Raw = Record<string, unknown>;

function faultOf({ name, inputSchema }: Raw): string | null {
  if (typeof name !== "string" || !isName(name)) return `Its name is none of up to ${limits.name} visible characters.`;
  if (!isObject(inputSchema) || (inputSchema.type ?? "object") !== "object") return "Its arguments are no object.";
  const [fault = null] = checkSchema(inputSchema, { patterns: "unchecked" });
  if (fault) return beginning(`Its arguments cannot be checked: the schema's ${plainText(fault)}.`, 300);
  return jsonFault(inputSchema);
}

/** Models get a name of letters, digits, _ and - in its place; the server is called by its own. */
const isName = (name: string): boolean =>
  name.length <= limits.name && name.trim() !== "" && name === plainText(name) && !/[\n\t]/.test(name);

function readTool({ name, title, description, inputSchema, annotations, execution }: Raw): McpTool {
  const hints = isObject(annotations) ? annotations : {};
  const descriptionText = [description, title].find((text) => typeof text === "string" && text !== "");
  return {
    name: name as string,
    description: cut(plainText((descriptionText as string | undefined) ?? ""), limits.description),
    parameters: { type: "object", ...(inputSchema as JsonSchema) },
    idempotent: hints.readOnlyHint === true || hints.idempotentHint === true,
    ...(isObject(execution) && execution.taskSupport === "required" && { as_task: true }),
  };
}

/** Cuts a text to a maximum number of UTF-8 bytes. */
function cut(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}
