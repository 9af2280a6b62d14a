import type { Base, Part } from "../http/part.ts";
import { createPriceStore } from "./prices.ts";
import { modelRoutes } from "./routes.ts";
import { createConnectionStore } from "./store.ts";

export interface ConnectionOptions {
  /** Where Ollama is looked for when nobody says where it is. */
  ollama?: string;
}

/** How models are reached, and what they cost. */
export function composeConnections(base: Base & ConnectionOptions) {
  const connections = createConnectionStore(base);
  const prices = createPriceStore(base);
  return {
    routes: (auth) => [modelRoutes({ auth, connections, prices })],
    ports: { connections, prices },
  } satisfies Part;
}
