import type { Scope } from "../../domain/scope.ts";
import type { Base, Module } from "../../http/module.ts";
import { createProjectTeardown } from "./project-teardown.ts";
import { createProjectStore } from "./store.ts";

export type ProjectsModule = ReturnType<typeof createProjectsModule>;

/** Projects. */
export const createProjectsModule = ({ base }: { base: Base }) =>
  ({ store: createProjectStore(base) }) satisfies Module;

interface Needs {
  base: Base;
  projects: ProjectsModule;
  cancelRun(scope: Scope, runId: string, reason: string): Promise<void>;
  /** Erases some of a project's memory and returns how much. Call inside a write. */
  eraseMemory(projectId: string): number;
  /** Ends what a deleted project has at other servers. */
  beforeErasing(projectId: string): Promise<void>;
}

/** The removal of archived and deleted projects. */
export function createProjectTeardownModule({ base, projects, cancelRun, eraseMemory, beforeErasing }: Needs) {
  const { db, log } = base;
  const teardown = createProjectTeardown({
    db,
    projects: projects.store,
    log,
    cancel: cancelRun,
    eraseFirst: eraseMemory,
    beforeErasing,
  });
  return {
    /** Ends activity in archived and deleted projects and erases the latter. A poll calls it, too. */
    finish: teardown.finish,
    /** Projects archived meanwhile must not resume, not even briefly. */
    async start(): Promise<void> {
      await teardown.cancelAll().catch((error) => log.error("runs of an archived project go on", { error }));
      teardown.start();
    },
    stop: teardown.stop,
  } satisfies Module;
}
