import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A model that the operator added: `local/<name>`, in a folder of its own with `model.onnx` and `tokenizer.json`. */
export interface OwnModel {
  folder: string;
  dimensions: number;
  /** How many tokens it reads at once. */
  window_tokens: number;
  /** What is set before each text, as some models were trained with. */
  prefix: string;
  /** The same before what is searched for. */
  query_prefix: string;
}

export const ownPrefix = "local/";
export const ownModelName = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const facts = "embedder.json";

/** Beside the database. */
export const ownModelsFolder = (database: string): string => join(dirname(database), "embedders");

/** The names of the models in a folder, as stores name them. */
export function ownModels(folder: string | null): string[] {
  if (folder === null || !existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => ownModelName.test(name) && existsSync(join(folder, name, facts)));
  return names.sort().map((name) => ownPrefix + name);
}

/** Null for one that is not there. Looked up for each use: one that is added is there at once. */
export function findOwnModel(folder: string | null, model: string): OwnModel | null {
  const name = model.slice(ownPrefix.length);
  if (folder === null || !model.startsWith(ownPrefix) || !ownModelName.test(name)) return null;
  const own = join(folder, name);
  const path = join(own, facts);
  if (!existsSync(path)) return null;
  // Models that were added earlier have one prefix.
  const { query_prefix, ...known } = JSON.parse(readFileSync(path, "utf8")) as Omit<
    OwnModel,
    "folder" | "query_prefix"
  > &
    Partial<OwnModel>;
  return { ...known, folder: own, query_prefix: query_prefix ?? known.prefix };
}
