import { readdirSync, readFileSync } from "node:fs";
import type { JournalEntry } from "../run-event.ts";

const folder = `${import.meta.dir}/journals`;

export const namesOf = (version: string): string[] =>
  readdirSync(`${folder}/${version}`).flatMap((file) =>
    file.endsWith(".jsonl") ? [`${version}/${file.slice(0, -".jsonl".length)}`] : [],
  );

export const readJournal = (name: string): JournalEntry[] =>
  readFileSync(`${folder}/${name}.jsonl`, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

/** Journals written by earlier versions. */
export const corpus = ["v1", "v2-memory", "v2", "v3"]
  .flatMap(namesOf)
  .map((name) => ({ name, entries: readJournal(name) }));
