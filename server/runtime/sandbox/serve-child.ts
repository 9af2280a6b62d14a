import type { ChildOrder } from "./child-order.ts";
import { type DropPrivileges, keepPrivileges } from "./drop-privileges.ts";
import type { ChildLanguage } from "./languages.ts";
import type { LoadRuntime } from "./runtime.ts";

/**
 * Second stage of a child: loads its purpose, serves one task and exits. Only children import this, so that threads
 * that merely start them have no copy of an interpreter or a parser.
 */
export const serveChild: Record<ChildLanguage, (dropPrivileges: DropPrivileges, order: ChildOrder) => Promise<never>> =
  {
    javascript: async (dropPrivileges) =>
      serveProgram((await import("./javascript.ts")).loadJavaScript, dropPrivileges),
    python: async (dropPrivileges, { isOpen }) => {
      const { loadPython } = await import("./python.ts");
      return serveProgram(() => loadPython({ isOpen }), dropPrivileges);
    },
    "data-python": async (dropPrivileges) => {
      const { loadDataPython } = await import("./data-python.ts");
      return serveProgram(() => loadDataPython(), dropPrivileges);
    },
    // The operator's interpreter, whose process is never this one.
    "system-python": () => process.exit(1),
    documents: async (dropPrivileges) => (await import("./serve-document.ts")).serveDocument(dropPrivileges),
    pdfs: async (dropPrivileges) => (await import("./serve-document.ts")).servePdf(dropPrivileges),
    scans: async (dropPrivileges) => (await import("./serve-scans.ts")).serveScans(dropPrivileges),
    "scanned-parts": async (dropPrivileges) => {
      const { loadOcr } = await import("../documents/ocr.ts");
      await (await import("../documents/draw-pages.ts")).loadPdfium();
      return (await import("./serve-document.ts")).servePdf(dropPrivileges, await loadOcr());
    },
    pages: async (dropPrivileges) => (await import("./serve-pages.ts")).servePages(dropPrivileges),
    capsules: async (dropPrivileges) => (await import("./serve-capsule.ts")).serveCapsule(dropPrivileges),
    skills: async (dropPrivileges) => (await import("./serve-skill.ts")).serveSkill(dropPrivileges),
    openapi: async (dropPrivileges) => (await import("./serve-openapi.ts")).serveOpenApi(dropPrivileges),
    // The self-test attacks the jail with a fully privileged runtime, and again after dropping privileges.
    "self-test": async (dropPrivileges) =>
      serveProgram((await import("./probes.ts")).loadProbes(dropPrivileges), keepPrivileges),
  };

async function serveProgram(load: LoadRuntime, dropPrivileges: DropPrivileges): Promise<never> {
  return (await import("./serve-program.ts")).serveProgram(load, dropPrivileges);
}
