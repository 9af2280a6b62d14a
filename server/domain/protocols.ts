/** Protocols besides the API by which an agent can be reached; each is off until the agent enables it. */
export const protocolNames = ["mcp", "a2a"] as const;
export type ProtocolName = (typeof protocolNames)[number];
export type Protocols = Record<ProtocolName, boolean>;

export const noProtocols: Protocols = { mcp: false, a2a: false };
