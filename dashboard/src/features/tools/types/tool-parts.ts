import { type ToolType, toolTypes } from "../../../../../server/domain/agent-snapshot.ts";
import type { AgentDraft } from "./agent.tsx";
import * as all from "./all.ts";
import type { CodeDraft } from "./code.tsx";
import type { EmailDraft } from "./email.tsx";
import type { HttpDraft } from "./http.tsx";
import type { McpDraft } from "./mcp.tsx";
import type { PageDraft } from "./page.tsx";
import type { RequestDraft } from "./request-fields.tsx";
import type { CommonDraft, ToolPart } from "./tool-part.ts";

/** Form state of a tool, including the fields of other types. */
export type ToolDraft = CommonDraft &
  RequestDraft &
  HttpDraft &
  CodeDraft &
  McpDraft &
  AgentDraft &
  PageDraft &
  EmailDraft;

/** Form parts by tool type. */
export const toolParts: Record<ToolType, ToolPart<object, ToolDraft>> = all;

/** Order of the type picker: first the type that needs no address. */
export const toolTypeOrder = [...new Set<ToolType>(["client", ...toolTypes])];
