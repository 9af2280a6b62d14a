import { AppError, type Fault } from "../../domain/errors.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, throwIfInvalid } from "../../http/errors.ts";
import type { Author } from "../../storage/db/audit.ts";
import * as all from "./catalog/all.ts";
import type { CatalogEntry, CatalogSetting } from "./catalog/catalog-entry.ts";
import type { AddFromCatalog, CatalogItem } from "./catalog/schema.ts";
import type { Tool } from "./schema.ts";
import type { ToolStore } from "./store.ts";

const entries: ReadonlyMap<string, CatalogEntry> = new Map(Object.entries(all));

/** The catalogue: ready tools, none of which is there before it is added. */
export const catalogItems = (): CatalogItem[] => [...entries].map(([name, entry]) => itemOf(name, entry));

function itemOf(name: string, { title, description, settings, tools }: CatalogEntry): CatalogItem {
  const examples = Object.fromEntries(Object.keys(settings).map((setting) => [setting, ""]));
  return {
    object: "catalog_entry",
    name,
    title,
    description,
    settings: Object.entries(settings).map(([name, { title, description, required, secret, default: usual }]) => ({
      name,
      title,
      description,
      required: required ?? false,
      write_only: secret ?? false,
      default: usual ?? null,
    })),
    tools: tools(examples).map(({ name, type = "http", description = "", approval }) => ({
      name,
      type,
      description,
      approval: approval === "always" ? ("always" as const) : ("never" as const),
    })),
  };
}

/** Creates the tools of an entry, all or none. Throws `name_taken` if the project has a tool of such a name. */
export async function addFromCatalog(
  tools: Pick<ToolStore, "applyAll" | "get" | "hasName">,
  author: Author & Viewer,
  name: string,
  { settings = {}, prefix = "" }: AddFromCatalog,
): Promise<Tool[]> {
  const entry = entries.get(name);
  if (!entry) throw new AppError("resource_not_found", "The catalogue has no such entry.", { param: "name" });
  throwIfInvalid(settingFaults(entry, settings));
  const inputs = entry.tools(withDefaults(entry, settings)).map((input) => ({ ...input, name: prefix + input.name }));
  throwIfInvalid(
    inputs.filter(({ name }) => name.length > 64).map(() => fault("prefix", "With it, a name is longer than 64.")),
  );
  const taken = inputs.find((input) => tools.hasName(author, input.name));
  if (taken)
    throw new AppError("name_taken", `There is a tool ${taken.name} already. Choose another prefix, or delete it.`, {
      param: "prefix",
    });
  try {
    const ids = await tools.applyAll(
      author,
      inputs.map((create) => ({ create })),
      false,
    );
    return ids.map((id) => tools.get(author, id));
  } catch (error) {
    throw error instanceof AppError ? blameSetting(error, entry) : error;
  }
}

/** Names the setting that an error of a tool's field comes from. */
function blameSetting(error: AppError, { settings }: CatalogEntry): AppError {
  const names = Object.keys(settings);
  const wordOf = (param: string | null | undefined): string => {
    const field = (param ?? "").split(/[.[]/, 1)[0] ?? "";
    const same = names.find((name) => name === field);
    const address = names.find((name) => name.endsWith("url"));
    const secret = names.find((name) => settings[name]?.secret);
    const found = same ?? (field === "url" ? address : field === "headers" ? secret : undefined);
    return found === undefined ? (param ?? "settings") : `settings.${found}`;
  };
  return new AppError(error.code, error.message, {
    param: wordOf(error.param),
    ...(error.errors && { errors: error.errors.map((each) => ({ ...each, param: wordOf(each.param) })) }),
  });
}

function settingFaults({ settings }: CatalogEntry, given: Readonly<Record<string, string>>): Fault[] {
  const faults = Object.keys(given)
    .filter((name) => !Object.hasOwn(settings, name))
    .map((name) => fault(`settings.${name}`, `Must be one of: ${Object.keys(settings).join(", ") || "no settings"}.`));
  for (const [name, { required, title }] of Object.entries(settings))
    if (required && (given[name] ?? "").trim() === "")
      faults.push(fault(`settings.${name}`, `${title} is missing.`, "required"));
  return faults;
}

/** Returns the settings without empty ones, with defaults. */
function withDefaults({ settings }: CatalogEntry, given: Readonly<Record<string, string>>): Record<string, string> {
  const textOf = (name: string, { default: usual }: CatalogSetting): string =>
    (given[name] ?? "").trim() || (usual ?? "");
  return Object.fromEntries(
    Object.entries(settings)
      .map(([name, setting]) => [name, textOf(name, setting)] as const)
      .filter(([, value]) => value !== ""),
  );
}
