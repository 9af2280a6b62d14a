import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { newId } from "../../domain/ids.ts";
import { imageTypeOf, imageTypes } from "../../domain/image-types.ts";
import type { PinnedSkill } from "../../domain/skills.ts";
import type { WorkspaceOwner } from "../../domain/workspace-limits.ts";
import type { Content } from "../../domain/workspace-schema.ts";
import { createEgress } from "../../lib/egress.ts";
import { sha256 } from "../../lib/hash.ts";
import type { Log } from "../../lib/log.ts";
import { mimeTypeOf } from "../../lib/mime-type.ts";
import { createMcpClient } from "../mcp/client.ts";
import { readStdioServers } from "../mcp/stdio-config.ts";
import { createStdioServers } from "../mcp/stdio-servers.ts";
import { tokenModel } from "../models/connection-token.ts";
import type { Connection, Model } from "../models/model.ts";
import { createModelCache } from "../models/model-cache.ts";
import { modelPrefix } from "../models/registry.ts";
import { createDocumentReader } from "../sandbox/document-reader.ts";
import type { ProgramFile } from "../sandbox/program.ts";
import { createSandbox } from "../sandbox/sandbox.ts";
import type { SystemPython } from "../sandbox/system-python.ts";
import type { TellProgress } from "./call-progress.ts";
import type { LeaseGuard } from "./lease-guard.ts";
import type { Ask, RunStart } from "./messages.ts";
import type { RunPorts } from "./run-context.ts";
import type { ToolContext, Workspaces } from "./tools/context.ts";
import type { OpenCalls } from "./tools/open-calls.ts";
import { runTool } from "./tools/runners.ts";
import { createHidden } from "./tools/secret-texts.ts";

/** Gives the run executor access to models and tools. */
export interface Adapters {
  model(start: RunStart, ask: Ask): Promise<Model> | Model;
  tools(start: ToolStart, ask: Ask): RunTools;
}

/** Stands for the id of a run where a tool is called outside of one. */
export const noRun = "none";

/** Fields of a run's start that tools need. */
export type ToolStart = Pick<RunStart, "run_id" | "attempt" | "secrets" | "egress"> & {
  /** Key of the fair queues: owners take turns. */
  owner: string;
  file_ids: readonly string[];
  skills?: readonly PinnedSkill[];
};

/** The tools of one run, closed when it ends. */
export type RunTools = Pick<RunPorts, "runTool" | "keepFile"> & {
  close(): void;
  /** True while a call waits for the user: the tools stay open while the run waits. */
  isWaiting?(): boolean;
  /** Goes on with a run that has waited. */
  resume?(ask: Ask): void;
  /** Calls back when an open call is over before the user has answered. */
  onOver?(listener: (tool_call_id: string) => void): void;
};

interface World {
  now: () => number;
  log: Log;
  leading: LeaseGuard;
  /** Called with all refusals of a model's server that are known now. */
  learnt?(connection: Connection, model: string, refusals: string[]): void;
}

/** Production adapters: providers, networks, sandboxed processes. */
export function createAdapters(world: World): Adapters {
  const openModel = createModelCache({ onLearnt: world.learnt });
  return {
    model({ connection, model, refusals }, ask) {
      const open = (one: Connection) => openModel(one, model, refusals?.[modelPrefix(one)]?.[model]);
      const { token_source } = connection;
      if (token_source === undefined) return open(connection);
      return tokenModel({ ...connection, token_source }, open, (source, rejected) =>
        ask("connection_token", { source, ...(rejected !== undefined && { rejected }) }),
      );
    },
    tools: createTools(world),
  };
}

/** Runs tools. Resources shared by all runs are created on first use. */
function createTools({ now, log, leading }: World): Adapters["tools"] {
  const stdio = createStdioServers({
    servers: readStdioServers(process.env),
    log,
    leading,
    elicits: true,
  });
  const sandboxOf = createShared((level, python) => createSandbox({ level: () => level, python }));
  const readerOf = createShared((level) => createDocumentReader({ level: () => level, spares: 0 }));

  return (start, firstAsk) => {
    let current = firstAsk;
    const ask: Ask = (of, question) => current(of, question);
    const egress = createEgress(start.egress);
    const isRun = start.run_id !== noRun;
    const mcp = createMcpClient({ egress, stdio, elicits: isRun });
    const openCalls: OpenCalls = new Map();
    // By call: one that has asked the user goes on in a later loop, with the connection of the earlier one.
    const tellers = new Map<string, TellProgress>();
    // Secrets of all tools and all earlier calls: a secret sent to one server may be echoed by another.
    const hidden = createHidden();
    const context: Omit<ToolContext, "recorded" | "standing" | "workspaces"> = {
      run_id: start.run_id,
      owner: start.owner,
      fileIds: start.file_ids,
      skills: start.skills,
      egress,
      ask,
      async secrets({ id, ...tool }) {
        const startSecrets = start.secrets[id];
        if (!startSecrets) throw new Error(`Tool ${id} has no secrets.`);
        const { sealed } = tool.type === "mcp" ? tool.mcp : tool.type === "email" ? tool.email : tool.http;
        const own = startSecrets.named ? await ask("secrets", { tool_id: id, sealed }) : startSecrets;
        for (const each of Object.values(start.secrets)) hidden.add(each);
        const fault = own.fault ?? hidden.add(own);
        return fault === null ? own : { ...own, fault };
      },
      async accessToken(tool, rejected, missing) {
        const { oauth_client_id } = tool.type === "mcp" ? tool.mcp : tool.http;
        if (oauth_client_id === undefined) return null;
        const found = await ask("access_token", {
          oauth_client_id,
          ...(rejected !== undefined && { rejected }),
          ...(missing !== undefined && { missing }),
        });
        if (found.status !== "ready") return found;
        const fault = hidden.add({ headers: { authorization: `Bearer ${found.token}` }, signing_secret: "" });
        return fault === null
          ? found
          : { status: "failed", code: "too_many_secrets", message: fault, retryable: false };
      },
      hidden: hidden.texts,
      async keepFile({ name, bytes }) {
        const id = newId("file");
        const mime_type = typeOf(name, bytes);
        const facts = { id, filename: name, mime_type, bytes: bytes.length, sha256: sha256(bytes) };
        await ask("keep_file", { file_id: id, content: bytes });
        return facts;
      },
      readFile: (id, most) => readFile(id, most, ask),
      sandbox: { run: async (program, signal) => (await sandboxOf(ask)).run(program, signal, start.owner) },
      readDocument: async (order, signal) => (await readerOf(ask)).read(order, signal),
      mcp,
      ...(isRun && {
        openCalls,
        tellProgress: (id: string, ...told: Parameters<TellProgress>) => tellers.get(id)?.(...told),
      }),
      now,
    };
    const workspaces: Omit<Workspaces, "current"> = {
      turn: createWorkspaceTurns(),
      async keep(sha256, content) {
        await ask("keep_content", { sha256, content });
      },
      read: (content) => readContent(content, ask),
    };
    return {
      keepFile: context.keepFile,
      runTool: (call, tool, signal, recorded, { standing, workspace: current, tell }) => {
        if (tell) tellers.set(call.id, tell);
        return runTool(
          call,
          tool,
          { ...context, recorded, standing, ...(current && { workspaces: { ...workspaces, current } }) },
          signal,
        ).finally(() => tellers.delete(call.id));
      },
      close() {
        for (const call of openCalls.values()) call.abort();
        void mcp.close();
      },
      isWaiting: () => openCalls.size > 0,
      resume(ask) {
        current = ask;
      },
      onOver(listener) {
        for (const [id, { over }] of openCalls) void over.then(() => listener(id));
      },
    };
  };
}

/** Returns the type of a tool's file. A picture is one by its content, because its model is shown it. */
function typeOf(name: string, bytes: Uint8Array): string {
  const named = mimeTypeOf(name);
  return imageTypeOf(bytes) ?? (imageTypes.has(named) ? "application/octet-stream" : named);
}

/** Returns a getter of something that needs the sandbox's level and is shared by all runs, created on first use. */
export function createShared<Shared>(
  create: (level: SandboxLevel, python: SystemPython | null) => Shared,
): (ask: Ask) => Promise<Shared> {
  let made: Shared | null = null;
  return async (ask) => {
    if (made) return made;
    // Each run asks for itself: if a run that ends while waiting had asked for all, the others would get no answer.
    const { level, python } = await ask("sandbox", {});
    made ??= create(level, python);
    return made;
  };
}

/** Returns a function that lets programs with the same workspace run one after the other, in the order of its calls. */
function createWorkspaceTurns(): Workspaces["turn"] {
  const lasts = new Map<WorkspaceOwner, Promise<unknown>>();
  return async (owner, recorded) => {
    const before = lasts.get(owner);
    lasts.set(owner, Promise.allSettled([before, recorded]));
    await before;
  };
}

/** Returns a content of a workspace, or null if it is gone. */
async function readContent({ sha256, bytes }: Content, ask: Ask): Promise<Uint8Array<ArrayBuffer> | null> {
  const content = new Uint8Array(bytes);
  for (let start = 0; start < bytes; start += partBytes) {
    const found = await ask("read_content", { sha256, start, length: partBytes });
    if (!found) return null;
    content.set(Uint8Array.fromBase64(found.content).subarray(0, bytes - start), start);
  }
  return content;
}

// Large files are read in parts so that the main thread is not blocked.
const partBytes = 256 * 1024;

/** Returns a file's content, `missing`, or `too_large` if it has more than `most` bytes. */
export async function readFile(
  file_id: string,
  most: number,
  ask: Ask,
): Promise<ProgramFile | "missing" | "too_large"> {
  const parts: Uint8Array[] = [];
  for (let start = 0; ; start += partBytes) {
    const found = await ask("read_file", { file_id, start, length: partBytes });
    if (!found) return "missing";
    if (found.bytes > most) return "too_large";
    parts.push(Uint8Array.fromBase64(found.content));
    if (start + partBytes >= found.bytes) return { name: found.filename, bytes: new Uint8Array(Buffer.concat(parts)) };
  }
}
