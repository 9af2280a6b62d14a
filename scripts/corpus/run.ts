import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { selfTest } from "../../server/runtime/sandbox/self-test.ts";
import { inProject } from "../root.ts";
import { compare } from "./compare.ts";
import { explainedLosses, lowered, writeExplainedLosses } from "./explained-losses.ts";
import { type CorpusFile, openCorpus } from "./files.ts";
import { formats } from "./formats.ts";
import { type FileOutcome, faultsOf, recoveredIn, rowsOf } from "./outcome.ts";
import { qualityPage, withTable } from "./page.ts";
import { createReader, inProcessReader } from "./read.ts";
import { type Reference, readReferences, versions } from "./references.ts";
import { missingReferences, packageTable, resultTable, worstFiles } from "./report.ts";

// Reads thousands of real documents of other projects, and compares words with what other programs read in them. README.md
// says more. RECORD=1 writes the table of the documentation.

const { values } = parseArgs({
  options: {
    files: { type: "string" },
    format: { type: "string" },
    file: { type: "string" },
    sample: { type: "string", default: "12" },
    worst: { type: "string", default: "20" },
    list: { type: "boolean", default: false },
    json: { type: "string" },
    "in-process": { type: "boolean", default: false },
  },
});
if (values.format && !formats.some((format) => format === values.format))
  throw new Error(`--format is one of ${formats.join(", ")}.`);

const corpus = await openCorpus(({ sample }) => values.files === undefined || sample === true);
for (const { registry, name, version } of corpus.unreached)
  console.log(`not reached: ${name} ${version} (${registry})`);
if (corpus.files.length === 0) {
  console.log("skipped: no package of the corpus can be fetched here");
  process.exit(0);
}
if (values.list) {
  console.log(packageTable(corpus.files));
  process.exit(0);
}

const files = chosen(corpus.files);
const references = await readReferences(files);
for (const line of missingReferences(files, references)) console.log(line);
const outcomes = await readAll(files);
const rows = rowsOf(outcomes);
console.log(`\n${resultTable(rows)}\n\n${worstFiles(outcomes, Number(values.worst), Number(values.sample))}`);
for (const [name, words] of recoveredIn(outcomes)) console.log(`explained loss that is smaller now: ${name}: ${words}`);
if (values.json) writeFileSync(values.json, JSON.stringify(outcomes.map(withoutText), null, 1));
const faults = faultsOf(outcomes, rows);
for (const fault of faults) console.log(`FAIL ${fault}`);
console.log(
  `corpus: ${files.length} files, ${faults.length === 0 ? "as good as the goals" : "not as good as the goals"}`,
);
if (process.env.RECORD) record();
process.exit(faults.length === 0 ? 0 : 1);

/** Returns the files that the flags name; of `--files` as many, from all formats alike. */
function chosen(all: readonly CorpusFile[]): CorpusFile[] {
  const named = all
    .filter(({ format }) => values.format === undefined || format === values.format)
    .filter(({ name }) => values.file === undefined || name.includes(values.file));
  if (values.files === undefined) return named;
  // Each file gets its place within its format, by its digest, so that the same files are chosen each time.
  const small = named.filter(({ bytes }) => bytes < 2 ** 20);
  const groups = [...Map.groupBy(small, ({ format }) => format).values()];
  const placed = groups.flatMap((group) =>
    group.toSorted((a, b) => (a.digest < b.digest ? -1 : 1)).map((file, place) => ({ file, place })),
  );
  return placed
    .sort((a, b) => a.place - b.place)
    .slice(0, Number(values.files))
    .map(({ file }) => file);
}

/** Writes the page of the documentation, and lowers the explained losses to those of this run. */
function record(): void {
  if (files.length < corpus.files.length || corpus.unreached.length > 0)
    throw new Error("RECORD=1 needs the whole corpus, from all registries.");
  const losses = lowered(explainedLosses, recoveredIn(outcomes));
  writeExplainedLosses(losses);
  const page = inProject("server/docs/explain/reading-quality.md");
  writeFileSync(page, withTable(readFileSync(page, "utf8"), qualityPage(rows, losses, versions(), new Date())));
}

/** Returns the outcome without the text of the file, for other programs. */
function withoutText({ file, reading: { text, ...reading }, comparison }: FileOutcome) {
  return { ...file, reading: { ...reading, characters: text.length }, comparison };
}

async function readAll(those: readonly CorpusFile[]): Promise<FileOutcome[]> {
  const reader = values["in-process"] ? inProcessReader : createReader(await selfTest());
  const left = [...those];
  const done: FileOutcome[] = [];
  const work = async () => {
    for (let file = left.shift(); file; file = left.shift()) {
      done.push(await readOne(file, references.get(file.name)));
      if (done.length % 200 === 0) console.log(`${done.length} of ${those.length} files …`);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  reader.stop();
  return done;

  async function readOne(file: CorpusFile, reference?: Reference): Promise<FileOutcome> {
    const text = reference && "text" in reference ? reference.text : null;
    // Images without words in the reference are left out: OCR takes minutes, and nothing says how well it reads.
    const read = await reader.read(file.path);
    // Without OCR, nothing is known of a scan.
    const isCompared = text !== null && read.refused !== "scan";
    return { file, reading: read, comparison: isCompared ? compare(text, read.text, file.format === "pdf") : null };
  }
}
