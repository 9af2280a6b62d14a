import type { ToolType } from "../../../../server/core/agent-snapshot.ts";

/** One tool of an MCP server. */
interface ServerTool {
  name: string;
  description: string;
  parameters: object;
}

type Approval = "never" | "always" | { when: object };

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

/** Who decides before a call, in words. */
export function approvalWords(approval: Approval): string {
  if (approval === "never") return "Nobody asked";
  return approval === "always" ? "A person approves" : "A person approves some";
}
