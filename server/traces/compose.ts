import { join } from "node:path";
import type { FileBlobs } from "../db/file-blobs.ts";
import type { Base, Part } from "../http/part.ts";
import type { Journals } from "../journal/compose.ts";
import { createCapsuleReader } from "../sandbox/capsule-reader.ts";
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
  /** The operator's collector, which gets the trace of every run that ends; null for none. */
  otlpTarget?: OtlpTarget | null;
}

/** What runs have done, for whoever looks at it, here or elsewhere. */
export function composeTraces({
  journals,
  blobs,
  runs,
  otlpTarget: target = null,
  ...base
}: Base & TraceOptions & { journals: Journals; blobs: FileBlobs; runs: { forgetTrace: TraceRoutes["forget"] } }) {
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
  const imports = createImports({ ...base, journal, reader });
  const body = createImportBody({ workspace, requireRoom });

  return {
    routes: (auth) => [
      traceRoutes({ auth, traces, forget: runs.forgetTrace }),
      diffRoutes({ auth, traces }),
      capsuleRoutes({ auth, capsules }),
      importRoutes({ auth, traces, imports, body }),
    ],
    async stop(): Promise<void> {
      reader.stop();
      workspace.close();
      await push?.stop();
    },
  } satisfies Part;
}
