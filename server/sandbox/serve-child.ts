import type { ChildOrder } from "./child-order.ts";
import { type DropPrivileges, keepPrivileges } from "./drop-privileges.ts";
import type { ChildLanguage } from "./languages.ts";
import type { LoadRuntime } from "./runtime.ts";

/**
 * The second life of a child: loads what it is for, serves one task, and exits. Known to children only: who merely
 * starts them (the threads of runs do) has no copy of an interpreter or a parser in it.
 */
export const serveChild: Record<ChildLanguage, (dropPrivileges: DropPrivileges, order: ChildOrder) => Promise<never>> =
  {
    javascript: async (dropPrivileges) =>
      serveProgram((await import("./javascript.ts")).loadJavaScript, dropPrivileges),
    python: async (dropPrivileges, { isOpen }) => {
      const { loadPython } = await import("./python.ts");
      return serveProgram(() => loadPython({ isOpen }), dropPrivileges);
    },
    documents: async (dropPrivileges) => (await import("./serve-document.ts")).serveDocument(dropPrivileges),
    pdfs: async (dropPrivileges) => (await import("./serve-document.ts")).servePdf(dropPrivileges),
    scans: async (dropPrivileges) => {
      const { loadOcr } = await import("../documents/ocr.ts");
      return (await import("./serve-document.ts")).servePdf(dropPrivileges, await loadOcr());
    },
    capsules: async (dropPrivileges) => (await import("./serve-capsule.ts")).serveCapsule(dropPrivileges),
    // The jail is attacked with all that the runtime offers, and what a program has left once more.
    "self-test": async (dropPrivileges) =>
      serveProgram((await import("./probes.ts")).loadProbes(dropPrivileges), keepPrivileges),
  };

async function serveProgram(load: LoadRuntime, dropPrivileges: DropPrivileges): Promise<never> {
  return (await import("./serve-program.ts")).serveProgram(load, dropPrivileges);
}
