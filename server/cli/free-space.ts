import type { Reserve } from "../db/space.ts";
import { usageError } from "./exit-code.ts";

const units: Record<string, number> = { "": 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3, TB: 1024 ** 4 };

/** Reads `--min-free-space`: bytes with a unit, or a share of the disk. */
export function readReserve(text: string): Reserve {
  const [, digits, unit] = /^(\d{1,15}(?:\.\d+)?) ?([KMGT]B|%)?$/i.exec(text.trim()) ?? [];
  if (digits === undefined) throw usageError(`--min-free-space takes 512MB, 2GB or 5%, not "${text}".`);
  if (unit === "%") return (disk_bytes) => (disk_bytes * Number(digits)) / 100;
  const bytes = Number(digits) * units[(unit ?? "").toUpperCase()]!;
  return () => bytes;
}
