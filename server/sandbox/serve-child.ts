import type { ChildLanguage } from "./languages.ts";
import type { LoadRuntime } from "./runtime.ts";

/**
 * The second life of a child: loads what it is for, serves one task, and exits. Known to children only: who merely
 * starts them (the threads of runs do) has no copy of an interpreter or a parser in it.
 */
export const serveChild: Record<ChildLanguage, () => Promise<never>> = {
  javascript: async () => serveProgram((await import("./javascript.ts")).loadJavaScript),
  python: async () => serveProgram((await import("./python.ts")).loadPython),
  documents: async () => (await import("./serve-document.ts")).serveDocument(),
  capsules: async () => (await import("./serve-capsule.ts")).serveCapsule(),
  "self-test": async () => serveProgram((await import("./probes.ts")).loadProbes),
};

async function serveProgram(load: LoadRuntime): Promise<never> {
  return (await import("./serve-program.ts")).serveProgram(load);
}
