import type { ChildLanguage } from "./languages.ts";
import { type GiveUpLast, nothing } from "./last-rights.ts";
import type { LoadRuntime } from "./runtime.ts";

/**
 * The second life of a child: loads what it is for, serves one task, and exits. Known to children only: who merely
 * starts them (the threads of runs do) has no copy of an interpreter or a parser in it.
 */
export const serveChild: Record<ChildLanguage, (giveUpLast: GiveUpLast) => Promise<never>> = {
  javascript: async (giveUpLast) => serveProgram((await import("./javascript.ts")).loadJavaScript, giveUpLast),
  python: async (giveUpLast) => serveProgram((await import("./python.ts")).loadPython, giveUpLast),
  documents: async (giveUpLast) => (await import("./serve-document.ts")).serveDocument(giveUpLast),
  pdfs: async (giveUpLast) => (await import("./serve-document.ts")).servePdf(giveUpLast),
  scans: async (giveUpLast) => {
    const { loadOcr } = await import("../documents/ocr.ts");
    return (await import("./serve-document.ts")).servePdf(giveUpLast, await loadOcr());
  },
  capsules: async (giveUpLast) => (await import("./serve-capsule.ts")).serveCapsule(giveUpLast),
  // The jail is attacked with all that the runtime offers, and what a program has left once more.
  "self-test": async (giveUpLast) => serveProgram((await import("./probes.ts")).loadProbes(giveUpLast), nothing),
};

async function serveProgram(load: LoadRuntime, giveUpLast: GiveUpLast): Promise<never> {
  return (await import("./serve-program.ts")).serveProgram(load, giveUpLast);
}
