import type { AgentStore } from "../../resources/agents/store.ts";

type ProtocolAgent = ReturnType<AgentStore["throughProtocol"]>[number];

export const protocolVersion = "1.0";

/** Returns the agent card of the A2A protocol; `reference` is the agent with the label or the version that is asked for. */
export function cardOf({ id, name, description, version }: ProtocolAgent, publicUrl: string, reference: string) {
  const url = `${publicUrl}/a2a/v1/agents/${reference}`;
  const summary = description ?? `The agent ${name}.`;
  return {
    name,
    description: summary,
    version: String(version),
    documentationUrl: `${publicUrl}/docs/connect/a2a`,
    supportedInterfaces: ["JSONRPC", "HTTP+JSON"].map((protocolBinding) => ({ url, protocolBinding, protocolVersion })),
    provider: { organization: "runnel", url: publicUrl },
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
    securitySchemes: { apiKey: { httpAuthSecurityScheme: { scheme: "bearer", description: "An API key." } } },
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
    defaultInputModes: ["text/plain", "application/json"],
    defaultOutputModes: ["text/plain", "application/json"],
    skills: [{ id, name, description: summary, tags: ["runnel"] }],
  };
}
