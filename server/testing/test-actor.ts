import type { Actor } from "../storage/db/audit.ts";

/** Actor of tests that call a store and not a route. */
export const testActor: Actor = { type: "cli", id: "test", ip: null, request_id: null };
