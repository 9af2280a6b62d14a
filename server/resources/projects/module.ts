import type { Base, Module } from "../../http/module.ts";
import type { LateRef } from "../../lib/late-ref.ts";
import { createProjectTeardown } from "./project-teardown.ts";
import { createProjectStore } from "./store.ts";

type WindDownOptions = Parameters<typeof createProjectTeardown>[0];

/** Projects, and the removal of archived and deleted ones. */
export function createProjectsModule({
  runs,
  memory,
  ...base
}: Base & {
  runs: LateRef<Pick<WindDownOptions, "cancel">>;
  memory: LateRef<Required<Pick<WindDownOptions, "eraseFirst">>>;
}) {
  const { db, log } = base;
  const projects = createProjectStore(base);
  const windDown = createProjectTeardown({
    db,
    projects,
    log,
    cancel: (...args) => runs().cancel(...args),
    eraseFirst: (projectId) => memory().eraseFirst(projectId),
  });
  return {
    exports: {
      projects,
      /** Ends activity in archived and deleted projects and erases the latter. Also called every second by a timer. */
      windDown: windDown.finish,
    },
    /** Projects archived meanwhile must not resume, not even briefly. */
    async start(): Promise<void> {
      await windDown.cancelAll().catch((error) => log.error("runs of an archived project go on", { error }));
      windDown.start();
    },
    stop: windDown.stop,
  } satisfies Module;
}
