import type { CreateRun } from "../../../../server/runs/schema.ts";

/** Body of `POST /v1/runs`. */
export type RunBody = Omit<CreateRun, "input"> & { input: string; stream: true };
