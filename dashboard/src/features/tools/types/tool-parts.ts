import type { ToolType } from "../../../../../server/core/agent-snapshot.ts";
import { type AgentDraft, agentPart } from "./agent.tsx";
import { clientPart } from "./client.ts";
import { type CodeDraft, codePart } from "./code.tsx";
import { type HttpDraft, httpPart } from "./http.tsx";
import { type McpDraft, mcpPart } from "./mcp.tsx";
import type { RequestDraft } from "./request-fields.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";
import { webhookPart } from "./webhook.ts";

/** Every type of tool, in the order of the choice between them. */
export const toolParts: Record<ToolType, ToolPart<object, ToolDraft>> = {
  client: clientPart,
  http: httpPart,
  webhook: webhookPart,
  code: codePart,
  mcp: mcpPart,
  agent: agentPart,
};

/** A tool while somebody writes it: all fields as they are typed, those of other types too. */
export type ToolDraft = CommonDraft & RequestDraft & HttpDraft & CodeDraft & McpDraft & AgentDraft;

export const shownTypes = Object.keys(toolParts) as ToolType[];
