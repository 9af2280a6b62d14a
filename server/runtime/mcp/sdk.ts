// Loaded on first use: it costs 15 MB and 35 ms, and most installations never need it.
export { Client } from "@modelcontextprotocol/sdk/client/index.js";
export { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
export { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
export type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
export type { ElicitResult } from "@modelcontextprotocol/sdk/types.js";
export {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ResultSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
export type { jsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
