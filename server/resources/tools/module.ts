import type { ToolSnapshot } from "../../domain/agent-snapshot.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import type { Base, Module } from "../../http/module.ts";
import type { ToolSecrets } from "../../runtime/agent-loop/messages.ts";
import { createMcpClient } from "../../runtime/mcp/client.ts";
import { readStdioServers } from "../../runtime/mcp/stdio-config.ts";
import { createStdioServers } from "../../runtime/mcp/stdio-servers.ts";
import { createOpenApiReader } from "../../runtime/sandbox/openapi-reader.ts";
import type { FilesModule } from "../files/module.ts";
import type { AgentResolver } from "../labels/module.ts";
import type { OAuthModule } from "../oauth/module.ts";
import type { SecretsModule } from "../secrets/module.ts";
import { createToolImport } from "./import/import.ts";
import type { ListTools } from "./mcp-lists.ts";
import { toolRoutes, toolTestRoutes } from "./routes.ts";
import { openToolSecrets, resolveToolSecrets, sealedOf } from "./secrets.ts";
import { createToolStore } from "./store.ts";
import { createToolTest, type RunTool } from "./test-call.ts";

export type ToolsModule = ReturnType<typeof createToolsModule>;

interface Needs {
  base: Base;
  secrets: SecretsModule;
  oauth: OAuthModule;
  files: FilesModule;
  hasAgent(viewer: Viewer, id: string): boolean;
  resolver: AgentResolver;
}

/** Tools of agents, including those of MCP servers. */
export function createToolsModule({ base, secrets, oauth, files, hasAgent, resolver }: Needs) {
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
    secrets: secrets.store,
    listTools,
    oauth: {
      hasClient: oauth.hasClient,
      isPerUser: oauth.isPerUser,
      clientFor: oauth.mcp.clientFor,
      tokenFor: oauth.accessTokens.get,
    },
    fileFacts: files.store.facts,
    sandboxLevel: sandbox.level,
    python: sandbox.python,
    hasAgent,
    resolveAgent: resolver.resolve,
    hasStdioServer: (name) => Object.hasOwn(stdioServers, name),
  });
  const reader = createOpenApiReader({ level: sandbox.level });
  const importTools = createToolImport({
    tools,
    reader,
    egress,
    hasSecret: secrets.store.has,
    hasOAuthClient: oauth.hasClient,
  });
  oauth.accessTokens.onGranted(({ scope, oauthClientId, userId }) => {
    void tools
      .listGranted(scope, oauthClientId, userId)
      .catch((error) => log.warn("tools of an authorized MCP server were not listed", { error }));
  });
  const openSecrets = (scope: Scope, toolId: string, sealed: string) =>
    resolveToolSecrets(openToolSecrets(seal, scope, toolId, sealed), (name) => secrets.store.value(scope, name));

  // Keyed by snapshot, because many runs share an agent's.
  const known = new WeakMap<ToolSnapshot, ToolSecrets>();

  /** Secrets that a tool sends now; references to named secrets are resolved each time. */
  function secretsNow(scope: Scope, tool: ToolSnapshot, sealed: string): ToolSecrets {
    const secrets = known.get(tool) ?? openSecrets(scope, tool.id, sealed);
    if (!secrets.named && !secrets.fault) known.set(tool, secrets);
    return secrets;
  }

  return {
    routes: (auth) => [toolRoutes({ auth, tools, importTools })],
    store: tools,
    openSecrets,
    /** Headers of a model's requests with the current values of the secrets that they name. */
    modelHeaders: (scope: Scope, headers: Record<string, string>) =>
      resolveToolSecrets({ headers, signing_secret: "" }, (name) => secrets.store.value(scope, name)),
    /** Secrets of these tools, by tool id. */
    secretsOf: (scope: Scope, pinned: readonly ToolSnapshot[]) =>
      Object.fromEntries(
        pinned.flatMap((tool) => {
          const sealed = sealedOf(tool);
          return sealed === null ? [] : [[tool.id, secretsNow(scope, tool, sealed)]];
        }),
      ),
    stop() {
      reader.stop();
      return stdio.close();
    },
  } satisfies Module;
}

/** Calls of tools outside of runs. */
export function createToolTestsModule({ base, tools, runTool }: { base: Base; tools: ToolsModule; runTool: RunTool }) {
  const testCall = createToolTest({ ...base, callable: tools.store.callable, runTool });
  return { routes: (auth) => [toolTestRoutes({ auth, testCall })] } satisfies Module;
}
