import { existsSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { silentLog } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import { addOwnModel } from "../../runtime/retrieval/embeddings/add-own-model.ts";
import { availableModels, builtInModels } from "../../runtime/retrieval/embeddings/models.ts";
import { findOwnModel, ownModels, ownPrefix } from "../../runtime/retrieval/embeddings/own-models.ts";
import { CliError } from "../commands/exit-code.ts";
import type { DataFlags } from "../commands/option.ts";
import { print, table } from "../commands/print.ts";

export interface AddFlags extends DataFlags {
  name?: string;
  windowTokens: string;
  prefix: string;
  queryPrefix?: string;
}

const folderOf = (dataDir: string) => join(dataDir, "embedders");

export async function add(
  from: string,
  { dataDir, json, name, windowTokens, prefix, queryPrefix }: AddFlags,
): Promise<void> {
  requireData(dataDir);
  const modelFacts = {
    name: name ?? basename(resolve(from)),
    from,
    window_tokens: Number(windowTokens),
    prefix,
    query_prefix: queryPrefix ?? prefix,
  };
  const own = await addOwnModel(folderOf(dataDir), modelFacts, silentLog).catch((error) => {
    throw new CliError(error instanceof Error ? error.message : String(error));
  });
  const model = ownPrefix + modelFacts.name;
  print(json, { model, dimensions: own.dimensions }, () => `Added ${model}: ${own.dimensions} dimensions.`);
}

export function list({ dataDir, json }: DataFlags): void {
  const inside = availableModels.map((model) => ({ model, dimensions: builtInModels[model].dimensions }));
  const folder = folderOf(dataDir);
  const factsOf = (model: string) => requireValue(findOwnModel(folder, model), `The model ${model}`);
  const own = ownModels(folder).map((model) => ({ model, dimensions: factsOf(model).dimensions }));
  const data = [...inside, ...own];
  print(json, { object: "list", data }, () =>
    table(
      ["MODEL", "DIMENSIONS"],
      data.map(({ model, dimensions }) => [model, String(dimensions)]),
    ),
  );
}

export function remove(name: string, { dataDir, json }: DataFlags): void {
  const model = name.startsWith(ownPrefix) ? name : ownPrefix + name;
  const own = findOwnModel(folderOf(dataDir), model);
  if (!own) throw new CliError(`There is no ${model}.`);
  rmSync(own.folder, { recursive: true });
  print(json, { model, removed: true }, () => `Removed ${model}.`);
}

function requireData(dataDir: string): void {
  if (!existsSync(dataDir)) throw new CliError(`There is no data directory at ${dataDir}. A server makes one.`);
}
