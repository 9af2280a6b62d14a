import type { CodeLanguage } from "../core/agent-snapshot.ts";

interface Bounds {
  least: number;
  most: number;
  usual: number;
}

type CodeBounds = Record<"timeout_ms" | "memory_mb", Bounds>;

/** What a language's programs may take. Python's interpreter alone needs more than a whole JavaScript program. */
export const codeBounds: Record<CodeLanguage, CodeBounds> = {
  javascript: {
    timeout_ms: { least: 100, most: 30_000, usual: 5000 },
    memory_mb: { least: 16, most: 256, usual: 64 },
  },
  python: {
    timeout_ms: { least: 1000, most: 60_000, usual: 5000 },
    memory_mb: { least: 128, most: 1024, usual: 256 },
  },
};

export const sourceBytes_max = 256 * 1024;

export const isWithin = ({ least, most }: Bounds, value: number): boolean => value >= least && value <= most;
