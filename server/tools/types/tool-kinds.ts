import type { ToolType } from "../../core/agent-snapshot.ts";
import { agentFields, agentKind } from "./agent.ts";
import { clientKind } from "./client.ts";
import { codeFields, codeKind } from "./code.ts";
import { httpFields, httpKind } from "./http.ts";
import { mcpFields, mcpKind } from "./mcp.ts";
import type { ToolKind } from "./tool-kind.ts";
import { webhookFields, webhookKind } from "./webhook.ts";

/** What each type of tool is. How its calls run is `runners` of the worker. */
export const toolKinds: Record<ToolType, ToolKind> = {
  http: httpKind,
  webhook: webhookKind,
  client: clientKind,
  code: codeKind,
  mcp: mcpKind,
  agent: agentKind,
};

/** The fields of all types. A field that several types have is the same in all. */
export const ownFields = { ...httpFields, ...webhookFields, ...codeFields, ...mcpFields, ...agentFields };
