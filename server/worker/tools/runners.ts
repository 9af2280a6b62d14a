import type { ToolType } from "../../core/agent-snapshot.ts";
import { runAgentTool } from "./agent.ts";
import { runCodeTool } from "./code.ts";
import type { ToolRunner } from "./context.ts";
import { runHttpTool } from "./http.ts";
import { runMcpTool } from "./mcp.ts";
import { runMemoryTool } from "./memory.ts";
import { runWebhookTool } from "./webhook.ts";

/** How each type of tool runs; a client's tools run at the client. */
export const runners: Record<Exclude<ToolType, "client"> | "memory", ToolRunner> = {
  http: runHttpTool,
  webhook: runWebhookTool,
  code: runCodeTool,
  mcp: runMcpTool,
  agent: runAgentTool,
  memory: runMemoryTool,
};
