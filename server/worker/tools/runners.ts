import type { ToolType } from "../../core/agent-snapshot.ts";
import * as all from "./all.ts";
import type { ToolRunner } from "./context.ts";

/** How each type of tool runs; a client's tools run at the client. */
export const runners: Record<Exclude<ToolType, "client"> | "memory", ToolRunner> = all;
