import type { ToolSnapshot } from "../core/agent-snapshot.ts";
import type { Scope } from "../core/scope.ts";
import type { Base, Part } from "../http/part.ts";
import type { Port } from "../lib/port.ts";
import { createMcpClient } from "../mcp/client.ts";
import { readStdioServers } from "../mcp/stdio-config.ts";
import { createStdioServers } from "../mcp/stdio-servers.ts";
import type { ToolSecrets } from "../worker/messages.ts";
import type { ListTools } from "./mcp-lists.ts";
import { toolRoutes } from "./routes.ts";
import { openToolSecrets, resolveToolSecrets, sealedOf } from "./secrets.ts";
import { createToolStore, type ToolStoreOptions } from "./store.ts";
import { createToolTest, type ToolTestOptions } from "./test-call.ts";

/** What agents can do, and the servers that say so themselves. */
export function composeTools({
  secrets,
  files,
  agents,
  runs,
  ...base
}: Base & {
  secrets: ToolStoreOptions["secrets"];
  files: { facts: ToolStoreOptions["fileFacts"] };
  agents: Port<{ has: ToolStoreOptions["hasAgent"] }>;
  runs: Port<Pick<ToolTestOptions, "runTool">>;
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

  // Agents, and with them their tools, are the same for many runs.
  const known = new WeakMap<ToolSnapshot, ToolSecrets>();

  /** What a tool sends now: whatever refers to named secrets is looked up each time. */
  function secretsNow(scope: Scope, tool: ToolSnapshot, sealed: string): ToolSecrets {
    const secrets = known.get(tool) ?? openSecrets(scope, tool.id, sealed);
    if (!secrets.named && !secrets.fault) known.set(tool, secrets);
    return secrets;
  }

  return {
    routes: (auth) => [toolRoutes({ auth, tools, testCall })],
    ports: {
      tools,
      openSecrets,
      /** Of all these tools, by their ids. */
      secretsOf: (scope: Scope, pinned: readonly ToolSnapshot[]) =>
        Object.fromEntries(
          pinned.flatMap((tool) => {
            const sealed = sealedOf(tool);
            return sealed === null ? [] : [[tool.id, secretsNow(scope, tool, sealed)]];
          }),
        ),
    },
    stop: stdio.close,
  } satisfies Part;
}
