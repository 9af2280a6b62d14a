import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** A kind of loss that is understood. */
export interface ExplainedLoss {
  kind: string;
  /** Full sentences for the documentation. */
  reason: string;
  /** Most words that may be missing, by file. */
  files: Record<string, number>;
}

const path = join(import.meta.dir, "explained-losses.json");

export const explainedLosses: readonly ExplainedLoss[] = JSON.parse(readFileSync(path, "utf8"));

/** Returns the explained losses with the words that are missing now, where these are fewer; without those that are none. */
export function lowered(losses: readonly ExplainedLoss[], missing: ReadonlyMap<string, number>): ExplainedLoss[] {
  return losses
    .map((loss) => {
      const files = Object.entries(loss.files).map(
        ([name, words]) => [name, Math.min(words, missing.get(name) ?? words)] as const,
      );
      return { ...loss, files: Object.fromEntries(files.filter(([, words]) => words > 0)) };
    })
    .filter(({ files }) => Object.keys(files).length > 0);
}

export function writeExplainedLosses(losses: readonly ExplainedLoss[]): void {
  writeFileSync(path, `${JSON.stringify(losses, null, 2)}\n`);
}
