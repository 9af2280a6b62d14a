import type { ToolType } from "../../core/agent-snapshot.ts";
import { agentKind } from "./agent.ts";
import { clientKind } from "./client.ts";
import { type CodeDefinition, codeKind } from "./code.ts";
import { httpKind } from "./http.ts";
import { type McpDefinition, mcpKind } from "./mcp.ts";
import type { HttpDefinition } from "./request.ts";
import type { CommonDefinition, Given, ToolKind } from "./tool-kind.ts";
import { webhookKind } from "./webhook.ts";

const kinds = {
  http: httpKind,
  webhook: webhookKind,
  client: clientKind,
  code: codeKind,
  mcp: mcpKind,
  agent: agentKind,
};

type Both<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The fields of all types. A field that several types have is the same in all. */
export const ownFields = Object.assign({}, ...Object.values(kinds).map(({ fields }) => fields)) as Both<
  (typeof kinds)[ToolType]["fields"]
>;

/** What stands in a tool's row, but for its name and its secrets. Rows of earlier versions lack what is optional. */
export interface Definition extends CommonDefinition {
  /** Of http and webhook tools. */
  http: HttpDefinition | null;
  code?: CodeDefinition;
  mcp?: McpDefinition;
  agent?: { agent_id: string };
}

export type AnyToolKind = ToolKind<Given<typeof ownFields>, Definition>;

/** What each type of tool is. How its calls run is `runners` of the worker. */
export const toolKinds: Record<ToolType, AnyToolKind> = kinds;
