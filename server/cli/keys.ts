import { Command } from "commander";
import { environments, type Permission, permissions, type Scope } from "../core/scope.ts";
import type { Db } from "../db/open.ts";
import { CliError, usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";
import { print, table } from "./print.ts";

interface Options {
  dataDir: string;
  json?: boolean;
  project: string;
  env: Scope["environment"];
}

interface CreateOptions extends Options {
  scopes: string;
  name: string;
  expiresInSeconds?: string;
  createProject?: boolean;
}

const projectOption = () => option("--project <name>", "project by name or id", { default: "default" });
const envOption = () => option("--env <environment>", "test or live", { choices: environments, default: "test" });

export function keysCommand(): Command {
  const keys = new Command("keys").description("make, list and revoke API keys");
  keys
    .command("create")
    .description("make a key; its secret is printed now and never again")
    .addOption(projectOption())
    .addOption(envOption())
    .addOption(option("--scopes <list>", "of read, run and admin, with commas", { default: "admin" }))
    .addOption(option("--name <name>", "what the key is for", { env: "RUNNEL_KEY_NAME", default: "cli" }))
    .addOption(option("--expires-in-seconds <n>", "when the key ends by itself"))
    .addOption(option("--create-project", "make the project when there is none"))
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExample:\n  $ runnel keys create --project shop --env live --scopes read,run --name backend",
    )
    .action(create);
  keys
    .command("list")
    .description("list the keys of a project and environment")
    .addOption(projectOption())
    .addOption(envOption())
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(list);
  keys
    .command("revoke")
    .description("end a key at once, also in a running server")
    .argument("<id>", "the key's id (key_…)")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(revoke);
  return keys;
}

async function openStores<T>(dataDir: string, create: boolean, work: (stores: Stores) => Promise<T>): Promise<T> {
  const { withData } = await import("./open-data.ts");
  const { createKeyStore } = await import("../keys/store.ts");
  const { createProjectStore } = await import("../projects/store.ts");
  return await withData(dataDir, { create }, ({ db }) =>
    work({ db, keys: createKeyStore({ db }), projects: createProjectStore({ db }) }),
  );
}

interface Stores {
  db: Db;
  keys: import("../keys/store.ts").KeyStore;
  projects: import("../projects/store.ts").ProjectStore;
}

async function create(options: CreateOptions): Promise<void> {
  const scopes = readScopes(options.scopes);
  const expires_in_seconds = readSeconds(options.expiresInSeconds);
  const key = await openStores(options.dataDir, options.createProject ?? false, async ({ keys, projects }) => {
    const known = findProject(projects, options.project);
    if (!known && !options.createProject)
      throw new CliError(`There is no project "${options.project}". --create-project makes it.`);
    const { id } = known ?? (await projects.create(options.project));
    const input = { name: options.name, scopes, ...(expires_in_seconds !== undefined && { expires_in_seconds }) };
    return await keys.create({ project_id: id, environment: options.env }, input, "cli");
  });
  print(options.json, key, () => key.secret);
}

async function list({ dataDir, json, project, env }: Options): Promise<void> {
  const data = await openStores(dataDir, false, async ({ keys, projects }) => {
    const known = findProject(projects, project);
    if (!known) throw new CliError(`There is no project "${project}".`);
    return allKeys(keys, { project_id: known.id, environment: env });
  });
  print(json, { object: "list", data }, () =>
    table(
      ["ID", "NAME", "KEY", "SCOPES", "STATUS", "LAST USED"],
      data.map((key) => [
        key.id,
        key.name,
        `${key.prefix}…${key.last4}`,
        key.scopes.join(","),
        key.status,
        key.last_used_at ?? "never",
      ]),
    ),
  );
}

async function revoke(id: string, { dataDir, json }: Options): Promise<void> {
  const answer = await openStores(dataDir, false, async ({ db, keys }) => {
    const scope = db.sqlite.query<Scope, [string]>("SELECT project_id, environment FROM api_keys WHERE id = ?").get(id);
    if (!scope) throw new CliError(`There is no key ${id}.`);
    return await keys.revoke(scope, id);
  });
  print(json, answer, () => `${id} is revoked.`);
}

function allKeys(keys: Stores["keys"], scope: Scope) {
  const all: ReturnType<Stores["keys"]["list"]>["data"] = [];
  for (let after: string | null = null, more = true; more; ) {
    const page = { limit: 100, starting_after: after, ending_before: null, order: "asc" as const };
    const { data, has_more, last_id } = keys.list(scope, { ...page, created_at: [], metadata: [], filters: {} });
    all.push(...data);
    [after, more] = [last_id, has_more];
  }
  return all;
}

const findProject = (projects: Stores["projects"], nameOrId: string) =>
  projects.byName(nameOrId) ?? projects.list().find(({ id }) => id === nameOrId) ?? null;

function readScopes(text: string): Permission[] {
  const words = text.split(",").map((word) => word.trim());
  const scopes = permissions.filter((permission) => words.includes(permission));
  if (scopes.length === 0 || words.some((word) => !permissions.some((permission) => permission === word)))
    throw usageError(`--scopes takes ${permissions.join(", ")}, not "${text}".`);
  return scopes;
}

function readSeconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw usageError(`--expires-in-seconds takes whole seconds, not "${text}".`);
  return Number(text);
}
