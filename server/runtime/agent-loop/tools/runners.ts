import type { ToolType } from "../../../domain/agent-snapshot.ts";
import * as all from "./all.ts";
import type { ToolRunner } from "./context.ts";

/** Runners by type of tool; client tools run at the client. */
export const runners: Record<Exclude<ToolType, "client"> | "memory", ToolRunner> = all;
