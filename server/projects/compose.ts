import type { Base, Part } from "../http/part.ts";
import type { Port } from "../lib/port.ts";
import { createProjectStore } from "./store.ts";
import { createWindDown } from "./wind-down.ts";

type WindDownOptions = Parameters<typeof createWindDown>[0];

/** Projects, and the end of those that are archived or deleted. */
export function composeProjects({
  runs,
  memory,
  ...base
}: Base & {
  runs: Port<Pick<WindDownOptions, "cancel">>;
  memory: Port<Required<Pick<WindDownOptions, "eraseFirst">>>;
}) {
  const { db, log } = base;
  const projects = createProjectStore(base);
  const windDown = createWindDown({
    db,
    projects,
    log,
    cancel: (...args) => runs().cancel(...args),
    eraseFirst: (projectId) => memory().eraseFirst(projectId),
  });
  return {
    ports: {
      projects,
      /** Ends what goes on in archived and deleted projects and erases the latter, now; a timer does so every second. */
      windDown: windDown.finish,
    },
    /** What was archived meanwhile may not begin again, not even for a moment. */
    async start(): Promise<void> {
      await windDown.cancelAll().catch((error) => log.error("runs of an archived project go on", { error }));
      windDown.start();
    },
    stop: windDown.stop,
  } satisfies Part;
}
