import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import type { ImportChoices } from "../../domain/openapi-import.ts";
import { createFairQueue } from "../../lib/fair-queue/queue.ts";
import { createChildren } from "./children.ts";
import { type OpenApiOutcome, openApiTask } from "./openapi-task.ts";

export interface OpenApiReader {
  /** Rejects only if the signal is aborted. `owner` is used for fair scheduling. */
  read(bytes: Uint8Array, choices: ImportChoices, signal: AbortSignal, owner: string): Promise<OpenApiOutcome>;
  /** Kills all children, also busy ones. */
  stop(): void;
}

/** Reads each document in a fresh child process that is never reused, because a hostile one may exploit a parser. */
export function createOpenApiReader({
  level,
}: {
  /** Called for each document, so that the server need not wait for the self-test at start. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}): OpenApiReader {
  const queue = createFairQueue({ count: 2, reserve: 1 });
  const children = createChildren({});
  return {
    async read(bytes, choices, signal, owner) {
      const now = await level();
      if (now === "off")
        return { error: "OpenAPI documents cannot be read on this server: its sandbox is off.", unavailable: "off" };
      const options = { language: "openapi", jailed: now === "strict" } as const;
      const outcome = await queue.run(owner, signal, () =>
        children.perform(options, () => openApiTask(bytes, choices), signal),
      );
      return children.isStopped() && "error" in outcome ? { ...outcome, unavailable: "stopped" } : outcome;
    },
    stop: children.stop,
  };
}
