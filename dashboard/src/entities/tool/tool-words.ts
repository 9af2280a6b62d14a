import type { ToolType } from "../../../../server/core/agent-snapshot.ts";

const words: Record<ToolType, string> = {
  client: "Client",
  http: "HTTP",
  webhook: "Webhook",
  code: "Code",
  mcp: "MCP server",
  agent: "Agent",
};

/** What people call a type of tools; an agent's version may name one of another time. */
export const toolTypeWord = (type: string): string => words[type as ToolType] ?? type;
