import type { ToolType } from "../core/agent-snapshot.ts";
import type { Fault } from "../core/errors.ts";
import { fault } from "../http/errors.ts";
import type { OwnField, UpdateTool } from "./schema.ts";

const owners: Record<OwnField, readonly ToolType[]> = {
  url: ["http", "webhook"],
  method: ["http"],
  headers: ["http", "webhook", "mcp"],
  timeout_ms: ["http", "webhook", "code", "mcp"],
  retries: ["http", "webhook"],
  response: ["http"],
  idempotent: ["http", "webhook"],
  language: ["code"],
  source: ["code"],
  memory_mb: ["code"],
  files: ["code"],
  server_url: ["mcp"],
  allowed_tools: ["mcp"],
  agent_id: ["agent"],
};

/** Fields that only tools of other types have: ignored, they would be believed to count. */
export const strangeFieldFaults = (input: UpdateTool, type: ToolType): Fault[] =>
  Object.entries(owners).flatMap(([name, types]) =>
    name in input && !types.includes(type) ? [fault(name, `Only ${inWords(types)} tools have this.`)] : [],
  );

const inWords = (types: readonly string[]): string =>
  types.length === 1 ? types[0]! : `${types.slice(0, -1).join(", ")} and ${types.at(-1)}`;
