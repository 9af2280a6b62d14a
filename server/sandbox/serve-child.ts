import type { ChildLanguage } from "./languages.ts";
import type { LastRights } from "./last-rights.ts";
import type { LoadRuntime } from "./runtime.ts";

/**
 * The second life of a child: loads what it is for, serves one task, and exits. Known to children only: who merely
 * starts them (the threads of runs do) has no copy of an interpreter or a parser in it.
 */
export const serveChild: Record<ChildLanguage, (rights: LastRights) => Promise<never>> = {
  javascript: async (rights) => serveProgram((await import("./javascript.ts")).loadJavaScript, rights),
  python: async (rights) => serveProgram((await import("./python.ts")).loadPython, rights),
  documents: async (rights) => (await import("./serve-document.ts")).serveDocument(rights),
  pdfs: async (rights) => (await import("./serve-document.ts")).servePdf(rights),
  scans: async (rights) => {
    const { loadOcr } = await import("../documents/ocr.ts");
    return (await import("./serve-document.ts")).servePdf(rights, await loadOcr());
  },
  capsules: async (rights) => (await import("./serve-capsule.ts")).serveCapsule(rights),
  // The jail is attacked with all that the runtime offers, and what a program has left once more.
  "self-test": async ({ loaded, told }) =>
    serveProgram((await import("./probes.ts")).loadProbes(loaded), { loaded() {}, told }),
};

async function serveProgram(load: LoadRuntime, rights: LastRights): Promise<never> {
  return (await import("./serve-program.ts")).serveProgram(load, rights);
}
