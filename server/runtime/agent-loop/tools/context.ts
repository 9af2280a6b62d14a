import type { AccessToken } from "../../../domain/access-token.ts";
import type { EmailTool, HttpTool, McpTool, ToolSnapshot } from "../../../domain/agent-snapshot.ts";
import type { FileFacts } from "../../../domain/run-event.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import type { PinnedSkill } from "../../../domain/skills.ts";
import type { WorkspaceOwner } from "../../../domain/workspace-limits.ts";
import type { Content, Workspace } from "../../../domain/workspace-schema.ts";
import type { Egress } from "../../../lib/egress.ts";
import type { McpClient } from "../../mcp/client.ts";
import type { Standing } from "../../models/spend-guard.ts";
import type { DocumentReader } from "../../sandbox/document-reader.ts";
import type { ProgramFile } from "../../sandbox/program.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { TellProgress } from "../call-progress.ts";
import type { Ask, ToolSecrets } from "../messages.ts";
import type { OpenCalls } from "./open-calls.ts";
import type { ToolOutcome } from "./tool-result.ts";

/** Runs one call. Returns failures as errors for the model; throws only on abort. */
export type ToolRunner<Tool extends ToolSnapshot> = (
  call: ToolCall,
  tool: Tool,
  context: ToolContext,
  signal: AbortSignal,
) => Promise<ToolOutcome>;

/** Folders that programs of a run share. */
export interface Workspaces {
  /** Returns the workspace as the run's journal has it; null before the first program that uses it. */
  current(owner: WorkspaceOwner): Workspace | null;
  /** Waits for the programs that began before with the same workspace, until their changes are journaled. */
  turn(owner: WorkspaceOwner, recorded: Promise<void>): Promise<void>;
  /** Stores bytes that a workspace has once the result of the call is journaled. */
  keep(sha256: string, bytes: Uint8Array): Promise<void>;
  /** Reads a content of a workspace; null if it is gone. */
  read(content: Content): Promise<Uint8Array<ArrayBuffer> | null>;
}

/** Dependencies of a run's tools. */
export interface ToolContext {
  run_id: string;
  /** Key of the fair queues: owners take turns. */
  owner: string;
  /** Settles once the result of the call is journaled or never will be; until then it is in memory. */
  recorded: Promise<void>;
  egress: Egress;
  /** Returns the run's budget and usage. */
  standing(): Standing;
  /** Absent outside of runs, where programs share nothing. */
  workspaces?: Workspaces;
  /** Asks the main thread. */
  ask: Ask;
  /** Returns the tool's current headers (or password) and signing secret, and hides them in all later outputs. */
  secrets(tool: HttpTool | McpTool | EmailTool): Promise<ToolSecrets>;
  /**
   * Returns the token that authorizes the tool's calls, and hides it in all later outputs; null if the tool has no OAuth
   * client. `rejected` and `missing`: see `AccessTokens`.
   */
  accessToken(tool: HttpTool | McpTool, rejected?: string, missing?: readonly string[]): Promise<AccessToken | null>;
  /** Returns the texts that no output may contain, because journal and model would keep them. */
  hidden(): readonly string[];
  /** Stores bytes that become a file with the result of the call. */
  keepFile(file: ProgramFile): Promise<FileFacts>;
  /** Reads a file of the run's project and environment; `too_large` if it has more than `most` bytes. */
  readFile(id: string, most: number): Promise<ProgramFile | "missing" | "too_large">;
  /** Files of the run, which code tools get in addition to their own. */
  fileIds: readonly string[];
  /** Skills of the run's agent, whose files code tools see. */
  skills?: readonly PinnedSkill[];
  sandbox: Pick<Sandbox, "run">;
  /** Reads a document's text in the jail. Rejects only if the signal is aborted. */
  readDocument: DocumentReader["read"];
  mcp: Pick<McpClient, "callTool">;
  /** Journals what a server says about this call, unless the call is over. Absent outside of runs. */
  tellProgress?(tool_call_id: string, ...told: Parameters<TellProgress>): void;
  /** Calls that have asked the user. Absent outside of runs: nobody can be asked there. */
  openCalls?: OpenCalls;
  now(): number;
}
