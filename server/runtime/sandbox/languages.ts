import type { CodeLanguage } from "../../domain/agent-snapshot.ts";

/**
 * Purpose of a child: to run a program (`data-python`: one that imports packages, `system-python`: in the operator's
 * interpreter), to read `documents`, `pdfs`, `scans` (pages of images with text), `scanned-parts` (documents with such
 * pages attached), `capsules`, `skills` or `openapi` documents, to draw `pages` of PDFs, or to attack its
 * own jail in `self-test`.
 */
export type ChildLanguage =
  | CodeLanguage
  | "data-python"
  | "system-python"
  | "documents"
  | "pdfs"
  | "scans"
  | "scanned-parts"
  | "pages"
  | "capsules"
  | "skills"
  | "openapi"
  | "self-test";

/** Settings of a language in the sandbox. */
interface Language {
  /** Private memory that its child may reserve, in MB, enforced by the kernel. */
  data_mb: number;
  /** Memory in MB that a child may use in addition to its program's limit; above it the parent kills it. */
  overhead_mb: number;
  cpu_seconds: number;
  /** Environment variables of the runtime in the child. */
  environment: readonly string[];
  /** Maximum milliseconds to load it, on a busy machine. */
  load_ms: number;
  /** Maximum number of spare children: a large runtime takes much memory for each. */
  spares: number;
}

/** The runtime reserves a gigabyte for machine code; if it cannot, it only interprets, many times slower. */
const littleMachineCode = "BUN_JSC_jitMemoryReservationSize=67108864";

const documents: Language = {
  data_mb: 3000,
  overhead_mb: 300,
  // Above the longest timeout of a document, because garbage collection uses several threads.
  cpu_seconds: 300,
  environment: [littleMachineCode],
  load_ms: 30_000,
  spares: 1,
};

const scans: Language = {
  data_mb: 3000,
  overhead_mb: 500,
  cpu_seconds: 600,
  environment: [littleMachineCode],
  load_ms: 180_000,
  spares: 0,
};

export const languages: Record<ChildLanguage, Language> = {
  javascript: {
    data_mb: 1500,
    overhead_mb: 300,
    cpu_seconds: 40,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 8,
  },
  python: {
    // Mostly reserved, not used. With less, the engine copies the interpreter's memory whenever it grows, which takes
    // ten times as long and twice the memory; the parent watches actual use.
    data_mb: 10240,
    overhead_mb: 400,
    cpu_seconds: 60,
    environment: [],
    load_ms: 40_000,
    spares: 1,
  },
  "data-python": {
    data_mb: 10240,
    // The compiled interpreter and its packages; the program's own memory comes on top.
    overhead_mb: 800,
    cpu_seconds: 90,
    environment: [],
    load_ms: 60_000,
    spares: 1,
  },
  "system-python": {
    // Lowered to the program's own before it begins.
    data_mb: 3000,
    overhead_mb: 500,
    cpu_seconds: 90,
    environment: [
      "HOME=/tmp",
      "TMPDIR=/tmp",
      "TZ=UTC",
      "LANG=C.UTF-8",
      "PYTHON_COLORS=0",
      "MPLBACKEND=Agg",
      "MPLCONFIGDIR=/tmp",
      // There are no threads.
      "OPENBLAS_NUM_THREADS=1",
      "OMP_NUM_THREADS=1",
      "MKL_NUM_THREADS=1",
      "NUMEXPR_MAX_THREADS=1",
    ],
    load_ms: 20_000,
    spares: 2,
  },
  documents,
  pdfs: documents,
  scans,
  "scanned-parts": scans,
  pages: {
    data_mb: 3000,
    overhead_mb: 300,
    cpu_seconds: 120,
    environment: [littleMachineCode],
    load_ms: 30_000,
    spares: 0,
  },
  capsules: {
    data_mb: 3000,
    overhead_mb: 300,
    cpu_seconds: 60,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 0,
  },
  skills: {
    data_mb: 3000,
    overhead_mb: 300,
    cpu_seconds: 40,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 0,
  },
  openapi: {
    data_mb: 3000,
    overhead_mb: 300,
    cpu_seconds: 120,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 0,
  },
  "self-test": {
    data_mb: 1500,
    overhead_mb: 300,
    cpu_seconds: 20,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 0,
  },
};
