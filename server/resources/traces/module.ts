import { join } from "node:path";
import type { Base, Module } from "../../http/module.ts";
import { createCapsuleReader } from "../../runtime/sandbox/capsule-reader.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { FilesModule } from "../files/module.ts";
import { createCapsules } from "./capsule.ts";
import { createImportBody } from "./import-body.ts";
import { createImports } from "./imports.ts";
import type { OtlpTarget } from "./otlp-post.ts";
import { createOtlpPush } from "./otlp-push.ts";
import { createOtlpSource } from "./otlp-source.ts";
import { capsuleRoutes, diffRoutes, importRoutes, type TraceRoutes, traceRoutes } from "./routes.ts";
import { createTraceStore } from "./store.ts";
import { createWorkspace } from "./workspace.ts";

export interface TraceOptions {
  /** The operator's collector, which receives the trace of every ended run; null: none. */
  otlpTarget?: OtlpTarget | null;
}

interface Needs {
  base: Base;
  options: TraceOptions;
  journals: Journals;
  files: FilesModule;
  forgetTrace: TraceRoutes["forget"];
}

/** Traces of runs: views, exports, imports and OTLP. */
export function createTracesModule({ base, options, journals, files, forgetTrace }: Needs) {
  const { otlpTarget: target = null } = options;
  const { blobs } = files;
  const { db, dataDir, sandbox, log } = base;
  const { journal } = journals;
  const requireRoom = () => base.requireRoom(true);
  const otlp = createOtlpSource({ db, journal });
  const push = target && createOtlpPush({ target, journal, otlp, log });
  if (push) journals.onCommit(push.committed);
  const traces = createTraceStore({ db, journal, otlp });
  const workspace = createWorkspace(dataDir && join(dataDir, "capsules"));
  const capsules = createCapsules({ ...base, journal, blobs, workspace, requireRoom });
  const reader = createCapsuleReader({ level: sandbox.level });
  const imports = createImports({ ...base, journal, readCapsule: reader.read });
  const body = createImportBody({ workspace, requireRoom });

  return {
    routes: (auth) => [
      traceRoutes({ auth, traces, forget: forgetTrace }),
      diffRoutes({ auth, traces }),
      capsuleRoutes({ auth, capsules }),
      importRoutes({ auth, traces, imports, body }),
    ],
    async stop(): Promise<void> {
      reader.stop();
      workspace.close();
      await push?.stop();
    },
  } satisfies Module;
}
