import { newId } from "../core/ids.ts";
import { createEgress } from "../lib/egress.ts";
import { sha256 } from "../lib/hash.ts";
import { mimeTypeOf } from "../lib/mime-type.ts";
import { createMcpClient } from "../mcp/client.ts";
import { readStdioServers } from "../mcp/stdio-config.ts";
import { createStdioServers } from "../mcp/stdio-servers.ts";
import { createModelCache } from "../models/model-cache.ts";
import type { Model } from "../models/port.ts";
import type { ProgramFile } from "../sandbox/program.ts";
import { createSandbox, type Sandbox } from "../sandbox/sandbox.ts";
import type { Leading } from "./leading.ts";
import type { Ask, RunStart } from "./messages.ts";
import type { ToolContext } from "./tools/context.ts";
import { runners } from "./tools/runners.ts";
import { createHidden } from "./tools/secret-texts.ts";
import type { Ports } from "./turn.ts";

/** How an engine reaches the world for a run. */
export interface Reach {
  model(start: RunStart): Promise<Model> | Model;
  tools(start: ToolStart, ask: Ask): RunTools;
}

/** What tools need of a run's start. */
export type ToolStart = Pick<RunStart, "run_id" | "attempt" | "secrets" | "egress"> & {
  /** Whose work it is, where that of several waits in one line. */
  owner: string;
  file_ids: readonly string[];
};

/** The tools of one run, until they are closed with it. */
export type RunTools = Pick<Ports, "runTool" | "keepFile"> & { close(): void };

interface World {
  now: () => number;
  warn(message: string, fields?: Record<string, unknown>): void;
  leading: Leading;
}

/** The real world: providers, networks, jailed processes. */
export function createReach(world: World): Reach {
  const openModel = createModelCache();
  return { model: ({ connection, model }) => openModel(connection, model), tools: createTools(world) };
}

/** Runs tools. What serves many runs is shared, and begins with its first use. */
function createTools({ now, warn, leading }: World): Reach["tools"] {
  const stdio = createStdioServers({ servers: readStdioServers(process.env), log: { info() {}, warn }, leading });
  const sandboxOf = createSharedSandbox();

  return (start, ask) => {
    const egress = createEgress(start.egress);
    const mcp = createMcpClient({ egress, stdio });
    // Of all tools, and of earlier calls too: whatever was sent somewhere may be echoed from elsewhere.
    const hidden = createHidden();
    const context: Omit<ToolContext, "recorded" | "standing"> = {
      run_id: start.run_id,
      owner: start.owner,
      fileIds: start.file_ids,
      egress,
      ask,
      async secrets({ id, http, mcp }) {
        const given = start.secrets[id]!;
        const sealed = (http ?? mcp)!.sealed;
        const own = given.named ? await ask("secrets", { tool_id: id, sealed }) : given;
        for (const each of Object.values(start.secrets)) hidden.add(each);
        const fault = own.fault ?? hidden.add(own);
        return fault === null ? own : { ...own, fault };
      },
      hidden: hidden.texts,
      async keepFile({ name, bytes }) {
        const id = newId("file");
        const facts = { id, filename: name, mime_type: mimeTypeOf(name), bytes: bytes.length, sha256: sha256(bytes) };
        await ask("keep_file", { file_id: id, content: bytes });
        return facts;
      },
      readFile: (id, most) => readFile(id, most, ask),
      sandbox: { run: async (program, signal) => (await sandboxOf(ask)).run(program, signal, start.owner) },
      mcp,
      now,
    };
    return {
      keepFile: context.keepFile,
      runTool: (call, tool, signal, recorded, standing) =>
        runners[tool.type as keyof typeof runners](call, tool, { ...context, recorded, standing }, signal),
      close: () => void mcp.close(),
    };
  };
}

/** One for all runs: what it holds ready is the same for everybody. Made when the first code runs. */
export function createSharedSandbox(): (ask: Ask) => Promise<Sandbox> {
  let made: Sandbox | null = null;
  return async (ask) => {
    if (made) return made;
    // Each run asks for itself: one that is over while it waits would take the answer from the others.
    const level = await ask("sandbox", {});
    made ??= createSandbox({ level: () => level });
    return made;
  };
}

// A large file crosses in pieces, so that nobody else on the main thread waits for it.
const partBytes = 256 * 1024;

/** A file's content, if it is no larger than that. */
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
