import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import type { LateRef } from "../../lib/late-ref.ts";
import type { ToolSecrets } from "../../runtime/agent-loop/messages.ts";
import { createMcpClient } from "../../runtime/mcp/client.ts";
import { readStdioServers } from "../../runtime/mcp/stdio-config.ts";
import { createStdioServers } from "../../runtime/mcp/stdio-servers.ts";
import type { ListTools } from "./mcp-lists.ts";
import { toolRoutes } from "./routes.ts";
import { openToolSecrets, resolveToolSecrets, sealedOf } from "./secrets.ts";
import { createToolStore, type ToolStoreOptions } from "./store.ts";
import { createToolTest, type ToolTestOptions } from "./test-call.ts";

/** Tools of agents, including those of MCP servers. */
export function createToolsModule({
  secrets,
  files,
  agents,
  runs,
  ...base
}: Base & {
  secrets: ToolStoreOptions["secrets"];
  files: { facts: ToolStoreOptions["fileFacts"] };
  agents: LateRef<{ has: ToolStoreOptions["hasAgent"] }>;
  runs: LateRef<Pick<ToolTestOptions, "runTool">>;
}) {
  const { seal, egress, environment, sandbox, closing, log } = base;
  const stdioServers = readStdioServers(environment);
  const stdio = createStdioServers({ servers: stdioServers, log });
  const listTools: ListTools = async (environment, server, allowed, timeout_ms) => {
    const client = createMcpClient({ egress: egress(environment), stdio });
    try {
      return await client.listTools(server, allowed, { timeout_ms, signal: closing });
    } finally {
      void client.close();
    }
  };
  const tools = createToolStore({
    ...base,
    secrets,
    listTools,
    fileFacts: files.facts,
    sandboxLevel: sandbox.level,
    hasAgent: (viewer, id) => agents().has(viewer, id),
    hasStdioServer: (name) => Object.hasOwn(stdioServers, name),
  });
  const testCall = createToolTest({ ...base, tools, runTool: (...args) => runs().runTool(...args) });
  const openSecrets = (scope: Scope, toolId: string, sealed: string) =>
    resolveToolSecrets(openToolSecrets(seal, scope, toolId, sealed), (name) => secrets.value(scope, name));

  // Keyed by snapshot, because many runs share an agent's.
  const known = new WeakMap<ToolSnapshot, ToolSecrets>();

  /** Secrets that a tool sends now; references to named secrets are resolved each time. */
  function secretsNow(scope: Scope, tool: ToolSnapshot, sealed: string): ToolSecrets {
    const secrets = known.get(tool) ?? openSecrets(scope, tool.id, sealed);
    if (!secrets.named && !secrets.fault) known.set(tool, secrets);
    return secrets;
  }

  return {
    routes: (auth) => [toolRoutes({ auth, tools, testCall })],
    exports: {
      tools,
      openSecrets,
      /** Secrets of these tools, by tool id. */
      secretsOf: (scope: Scope, pinned: readonly ToolSnapshot[]) =>
        Object.fromEntries(
          pinned.flatMap((tool) => {
            const sealed = sealedOf(tool);
            return sealed === null ? [] : [[tool.id, secretsNow(scope, tool, sealed)]];
          }),
        ),
    },
    stop: stdio.close,
  } satisfies Module;
}
