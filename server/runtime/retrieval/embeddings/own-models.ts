import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A model added by the operator: `local/<name>`, in its own folder with `model.onnx` and `tokenizer.json`. */
export interface OwnModel {
  folder: string;
  dimensions: number;
  /** Tokens read per call. */
  window_tokens: number;
  /** Text put before each passage, which some models were trained with. */
  prefix: string;
  /** Text put before a search query. */
  query_prefix: string;
}

export const ownPrefix = "local/";
export const ownModelName = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const facts = "embedder.json";

/** Returns the folder of own models, beside the database. */
export const ownModelsFolder = (database: string): string => join(dirname(database), "embedders");

/** Returns the names of the models in a folder, as used by stores. */
export function ownModels(folder: string | null): string[] {
  if (folder === null || !existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => ownModelName.test(name) && existsSync(join(folder, name, facts)));
  return names.sort().map((name) => ownPrefix + name);
}

/** Returns null if the model does not exist. Read on each use, so that a newly added model is available at once. */
export function findOwnModel(folder: string | null, model: string): OwnModel | null {
  const name = model.slice(ownPrefix.length);
  if (folder === null || !model.startsWith(ownPrefix) || !ownModelName.test(name)) return null;
  const own = join(folder, name);
  const path = join(own, facts);
  if (!existsSync(path)) return null;
  // Models added by earlier versions have a single prefix.
  const { query_prefix, ...known } = JSON.parse(readFileSync(path, "utf8")) as Omit<
    OwnModel,
    "folder" | "query_prefix"
  > &
    Partial<OwnModel>;
  return { ...known, folder: own, query_prefix: query_prefix ?? known.prefix };
}
