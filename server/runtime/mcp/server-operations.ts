import type { McpOperation } from "../../domain/agent-snapshot.ts";
import { isObject } from "../../lib/json.ts";
import { plainText } from "./plain-text.ts";
import type { McpTool } from "./read-tools.ts";

type Raw = Record<string, unknown>;

const tool = (operation: McpOperation, description: string, properties: Raw, required: string[]): McpTool => ({
  name: operation,
  description,
  parameters: { type: "object", properties, ...(required.length > 0 && { required }) },
  idempotent: true,
  operation,
});

/** Returns the tools with which a model reads a server's resources. */
export const resourceTools = (): McpTool[] => [
  tool("list_resources", "Lists the resources of this server, and the templates of their addresses.", {}, []),
  tool(
    "read_resource",
    "Reads a resource of this server.",
    { uri: { type: "string", description: "The resource's uri, from the list or by a template." } },
    ["uri"],
  ),
];

const mostPrompts = 50;

/** Returns the tool with which a model gets a server's prompts; null if there are none. */
export function promptTool(prompts: readonly Raw[]): McpTool | null {
  const named = prompts.filter(({ name }) => typeof name === "string" && name !== "").slice(0, mostPrompts);
  if (named.length === 0) return null;
  const lines = named.map((prompt) => `- ${lineOf(prompt)}`);
  return tool(
    "get_prompt",
    plainText(`Returns one of this server's prompts, which are instructions for a task:\n${lines.join("\n")}`).slice(
      0,
      4000,
    ),
    {
      name: { type: "string", enum: [...new Set(named.map(({ name }) => name))] },
      arguments: { type: "object", additionalProperties: { type: "string" }, description: "The prompt's arguments." },
    },
    ["name"],
  );
}

/** Returns a prompt with its arguments; those that are not required have a question mark. */
function lineOf({ name, title, description, arguments: args }: Raw): string {
  const names = (Array.isArray(args) ? args.filter(isObject) : []).map(
    (each) => `${String(each.name)}${each.required === true ? "" : "?"}`,
  );
  const about = [description, title].find((text) => typeof text === "string" && text !== "");
  return `${String(name)}(${names.join(", ")})${about ? `: ${String(about).slice(0, 200)}` : ""}`;
}
