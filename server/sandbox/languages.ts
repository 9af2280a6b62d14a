import type { CodeLanguage } from "../core/agent-snapshot.ts";

/** What a child is for: `documents`, `pdfs`, `scans` (those whose letters are in images) and `capsules` are read as programs run, and in `self-test` the child attacks its own jail. */
export type ChildLanguage = CodeLanguage | "documents" | "pdfs" | "scans" | "capsules" | "self-test";

/** A language as the sandbox runs it. */
interface Language {
  /** Private memory that its child may reserve, in MB: where the kernel stops it. */
  data_mb: number;
  /** Memory in use at which the parent ends a child, over what the program may use. */
  overhead_mb: number;
  cpu_seconds: number;
  /** Settings of the runtime in the child. */
  environment: readonly string[];
  /** How long a child may take to load it, on a machine with much else to do. */
  load_ms: number;
  /** Children that wait loaded, at most: a large runtime costs as much memory for each. */
  spares: number;
}

/** The runtime sets aside a gigabyte for machine code, or where it may not, interprets all, many times slower. */
const littleMachineCode = "BUN_JSC_jitMemoryReservationSize=67108864";

const documents: Language = {
  data_mb: 3000,
  overhead_mb: 300,
  // More than the longest time that a document has: collecting garbage is done by several threads.
  cpu_seconds: 300,
  environment: [littleMachineCode],
  load_ms: 30_000,
  spares: 1,
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
    // Mostly reserved, not used. With less the engine copies the interpreter's memory each time that it grows, which
    // takes ten times as long and twice the room; what a program uses is watched by the parent.
    data_mb: 10240,
    overhead_mb: 400,
    cpu_seconds: 60,
    environment: [],
    load_ms: 40_000,
    spares: 1,
  },
  documents,
  pdfs: documents,
  scans: {
    data_mb: 3000,
    overhead_mb: 500,
    cpu_seconds: 600,
    environment: [littleMachineCode],
    load_ms: 60_000,
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
  "self-test": {
    data_mb: 1500,
    overhead_mb: 300,
    cpu_seconds: 20,
    environment: [littleMachineCode],
    load_ms: 20_000,
    spares: 0,
  },
};
