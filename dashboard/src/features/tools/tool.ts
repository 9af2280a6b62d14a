import type { ToolType } from "./tools-search.ts";

/** One tool of an MCP server. */
export interface ServerTool {
  name: string;
  description: string;
  parameters: object;
}

export type Approval = "never" | "always" | { when: object };

/** A tool as the API shows it; the fields of its type are there, and no others. */
export interface Tool {
  id: string;
  name: string;
  type: ToolType;
  description: string;
  parameters: object;
  approval: Approval;
  on_unknown: "ask" | "retry" | "report";
  max_output_bytes: number;
  enabled: boolean;
  url?: string;
  method?: string;
  headers?: Record<string, string>;
  timeout_ms?: number;
  retries?: number;
  idempotent?: boolean;
  response?: "json" | "text";
  language?: "javascript" | "python";
  source?: string | null;
  memory_mb?: number;
  files?: string[];
  file_ids?: string[];
  server_url?: string;
  allowed_tools?: string[] | null;
  tools?: ServerTool[];
  skipped?: { name: string; reason: string }[];
  listed_at?: string | null;
  last_error?: { code: string; message: string; at: string } | null;
  agent_id?: string;
  created_at: string;
  updated_at: string;
}

export const typeWords: Record<ToolType, string> = {
  client: "Client",
  http: "HTTP",
  webhook: "Webhook",
  code: "Code",
  mcp: "MCP server",
  agent: "Agent",
};

export const typeHints: Record<ToolType, string> = {
  client: "The run waits for your own code to give the output.",
  http: "runnel sends the arguments to an address; the answer is the output.",
  webhook: "The same, for work that takes longer: the output may come later.",
  code: "JavaScript or Python in the sandbox, without network.",
  mcp: "Each tool of a server becomes a tool of the agent.",
  agent: "Another agent is asked, as a run of its own.",
};

/** Who decides before a call, in words. */
export function approvalWords(approval: Approval): string {
  if (approval === "never") return "Nobody asked";
  return approval === "always" ? "A person approves" : "A person approves some";
}

/** Where a tool goes: its address, its language, its server. */
export function targetWords(tool: Tool): string {
  const code = tool.source === null ? "written by the model" : "own source";
  const words: Record<ToolType, string> = {
    client: "Your own code",
    http: `${tool.method} ${tool.url}`,
    webhook: `POST ${tool.url}`,
    code: `${tool.language === "python" ? "Python" : "JavaScript"}, ${code}`,
    mcp: tool.server_url ?? "",
    agent: tool.agent_id ?? "",
  };
  return words[tool.type];
}
