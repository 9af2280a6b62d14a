import type { ToolSnapshot } from "../../core/agent-snapshot.ts";
import type { FileFacts } from "../../core/run-event.ts";
import type { ToolCall } from "../../core/run-state.ts";
import type { Egress } from "../../lib/egress.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { Standing } from "../../models/payer.ts";
import type { ProgramFile } from "../../sandbox/program.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Ask, ToolSecrets } from "../messages.ts";
import type { ToolOutcome } from "./outcome.ts";

/** Runs one call. Never throws but for an abort: what goes wrong is an error that the model reads. */
export type ToolRunner = (
  call: ToolCall,
  tool: ToolSnapshot,
  context: ToolContext,
  signal: AbortSignal,
) => Promise<ToolOutcome>;

/** What the tools of a run may use. */
export interface ToolContext {
  run_id: string;
  /** Whose work it is, where that of several waits in one line. */
  owner: string;
  /** Settles once the result of the call is on record, or never will be: until then its answer is in memory. */
  recorded: Promise<void>;
  egress: Egress;
  /** What the run has to spend, and what it has spent. */
  standing(): Standing;
  /** Asks the main thread. */
  ask: Ask;
  /** What a tool sends and signs with now; from then on no output may hold it. */
  secrets(tool: ToolSnapshot): Promise<ToolSecrets>;
  /** What must not come back in an output: journal and model would have it for ever. */
  hidden(): readonly string[];
  /** Stores bytes that become a file with the result of the call. */
  keepFile(file: ProgramFile): Promise<FileFacts>;
  /** The content of a file of the run's project and environment; none of it where it has more than `most` bytes. */
  readFile(id: string, most: number): Promise<ProgramFile | "missing" | "too_large">;
  /** Files of the run, which code tools get beside their own. */
  fileIds: readonly string[];
  sandbox: Pick<Sandbox, "run">;
  mcp: Pick<McpClient, "callTool">;
  now(): number;
}
