import type { CorpusFile } from "./files.ts";
import { formats } from "./formats.ts";
import { type FileOutcome, missingOf, type Row, unexplainedOf } from "./outcome.ts";
import type { Reference } from "./references.ts";

/** How the programs that are missing are installed. */
const installs: Record<string, string> = {
  pdftotext: "apt-get install poppler-utils",
  soffice: "apt-get install libreoffice-writer-nogui",
};

/** Returns a line for each format that cannot be compared here, which says how to change that. */
export function missingReferences(files: readonly CorpusFile[], references: ReadonlyMap<string, Reference>): string[] {
  const lines = files.flatMap(({ name, format }) => {
    const reference = references.get(name);
    if (!reference || !("missing" in reference)) return [];
    const { missing } = reference;
    const how = installs[missing] ?? `python3 with venv, and PyPI for ${missing}`;
    return [`not compared: ${format}: no ${missing} here (${how})`];
  });
  return [...new Set(lines)];
}

/** Returns the figures of all formats as a table for a terminal. */
export function resultTable(rows: readonly Row[]): string {
  const head = ["", "files", "read", "compared", "words", "missing", "‰", "unexplained", "extra", "crashes", "late"];
  const times = ["median ms", "slowest ms", "ms a page"];
  const cells = rows.map((row) => [
    row.format,
    ...[row.files, row.read, row.compared, row.words, row.missing].map(String),
    perMille(row),
    ...[row.unexplained, row.extra, row.crashes, row.late, row.median_ms, row.slowest_ms].map((value) =>
      value.toFixed(0),
    ),
    row.page_ms === null ? "" : row.page_ms.toFixed(0),
  ]);
  const refusals = rows.flatMap(({ format, refused }) =>
    refused.size === 0
      ? []
      : [`${format} refused: ${[...refused].map(([code, count]) => `${code} ${count}`).join(", ")}`],
  );
  return [columns([[...head, ...times], ...cells]), ...refusals].join("\n");
}

export const perMille = ({ missing, words }: Pick<Row, "missing" | "words">): string =>
  words === 0 ? "" : ((1000 * missing) / words).toFixed(2);

/** Returns the files of each format that lack most words, with some of these. */
export function worstFiles(outcomes: readonly FileOutcome[], count: number, sample: number): string {
  return formats
    .flatMap((format) => {
      const worst = outcomes
        .filter((outcome) => outcome.file.format === format && missingOf(outcome) > 0)
        .sort((a, b) => unexplainedOf(b) - unexplainedOf(a) || missingOf(b) - missingOf(a));
      return worst.slice(0, count).map((outcome) => lineOf(outcome, sample));
    })
    .join("\n");
}

function lineOf(outcome: FileOutcome, sample: number): string {
  const { file, reading, comparison } = outcome;
  const { missing, words } = comparison!;
  const examples = [...new Set(missing)].slice(0, sample).join(" ");
  const state = unexplainedOf(outcome) === 0 ? " explained" : "";
  const why = reading.refused === null ? "" : ` refused (${reading.refused}: ${reading.message})`;
  return `${file.format} ${missing.length}/${words}${state} ${file.name}${why}: ${examples}`;
}

/** Returns the number of files of each format that each package gives. */
export function packageTable(files: readonly CorpusFile[]): string {
  const byPackage = Map.groupBy(files, ({ name }) => name.split("/")[0]!);
  const lines = [...byPackage].map(([name, those]) => [
    name,
    String(those.length),
    ...formats.map((format) => String(those.filter((file) => file.format === format).length || "")),
  ]);
  const sums = formats.map((format) => String(files.filter((file) => file.format === format).length));
  return columns([["", "files", ...formats], ...lines, ["all", String(files.length), ...sums]]);
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!))).join("  "))
    .join("\n");
}
