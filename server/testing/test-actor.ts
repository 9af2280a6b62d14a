import type { Actor } from "../db/audit.ts";

/** Whoever a test acts as where it asks a store and not a route. */
export const testActor: Actor = { type: "cli", id: "test", ip: null, request_id: null };
