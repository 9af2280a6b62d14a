import { Command } from "commander";
import { environments, type Permission, permissions, type Scope } from "../../domain/scope.ts";
import { requireValue } from "../../lib/require-value.ts";
import type { KeyStore } from "../../resources/keys/store.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { Db } from "../../storage/db/open.ts";
import { cliActor } from "./actor.ts";
import { readDuration } from "./duration.ts";
import { CliError, usageError } from "./exit-code.ts";
import { findProject, requireProject } from "./find-project.ts";
import { addDataOptions, type DataFlags, option } from "./option.ts";
import { print, printBeside, table } from "./print.ts";
import { withStores } from "./with-stores.ts";

interface ListOptions extends DataFlags {
  project: string;
  env: Scope["environment"];
}

interface CreateOptions extends ListOptions {
  scopes: string;
  name: string;
  expiresIn?: string;
  agents?: string;
  cidrs?: string;
  createProject?: boolean;
}

interface RotateOptions extends DataFlags {
  overlap: string;
  expiresIn?: string;
}

const projectOption = () => option("--project <name>", "project by name or id", { default: "default" });
const envOption = () => option("--env <environment>", "test or live", { choices: environments, default: "test" });
const expiresOption = () => option("--expires-in <time>", "when the key ends by itself: 90d, 12h, 30m, 45s");

export function keysCommand(): Command {
  const keys = new Command("keys").description("make, list, rotate and revoke API keys");
  keys
    .command("create")
    .description("make a key; its secret is printed now and never again")
    .addOption(projectOption())
    .addOption(envOption())
    .addOption(option("--scopes <list>", "of read, run and admin, with commas", { default: "admin" }))
    .addOption(option("--name <name>", "what the key is for", { env: "RUNNEL_KEY_NAME", default: "cli" }))
    .addOption(expiresOption())
    .addOption(option("--agents <list>", "ids of the only agents it may use, with commas"))
    .addOption(option("--cidrs <list>", "networks that it may come from, with commas: 203.0.113.0/24"))
    .addOption(option("--create-project", "make the project when there is none"))
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
    .action(list);
  keys
    .command("rotate")
    .description("make a key's successor and print its secret; both are good until the overlap ends")
    .argument("<id>", "the key's id (key_…)")
    .addOption(option("--overlap <time>", "how long the old key is good: 24h, 30m, 0s; to 30 days", { default: "24h" }))
    .addOption(expiresOption())
    .addHelpText("after", "\nExample:\n  $ runnel keys rotate key_01kb… --overlap 1h")
    .action(rotate);
  keys
    .command("revoke")
    .description("end a key at once, also in a running server")
    .argument("<id>", "the key's id (key_…)")
    .action(revoke);
  addDataOptions(...keys.commands);
  return keys;
}

async function create(options: CreateOptions): Promise<void> {
  const expires_in_seconds = readDuration(options.expiresIn, "--expires-in");
  const input = {
    name: options.name,
    scopes: readScopes(options.scopes),
    ...(expires_in_seconds !== undefined && { expires_in_seconds }),
    agent_ids: readList(options.agents),
    allowed_cidrs: readList(options.cidrs),
  };
  const { validateCreation: checkCreation } = await import("../../resources/keys/validate.ts");
  asUsage(() => checkCreation(input));
  const key = await withStores(options.dataDir, options.createProject ?? false, async (stores) => {
    const projects = stores.projects();
    const known = findProject(projects, options.project);
    if (!known && !options.createProject)
      throw new CliError(`There is no project "${options.project}". --create-project makes it.`);
    if (known?.archived_at_ms) throw new CliError(`The project "${known.name}" is archived: its keys are refused.`);
    const actor = cliActor();
    const { id } = known ?? (await projects.create(options.project, actor));
    return await stores.keys().create({ project_id: id, environment: options.env, actor }, input);
  });
  print(options.json, key, () => key.secret);
}

async function list({ dataDir, json, project, env }: ListOptions): Promise<void> {
  const data = await withStores(dataDir, false, ({ keys, projects }) => {
    const known = requireProject(projects(), project);
    return allKeys(keys(), { project_id: known.id, environment: env });
  });
  print(json, { object: "list", data }, () =>
    table(
      ["ID", "NAME", "KEY", "SCOPES", "STATUS", "ENDS", "LAST USED"],
      data.map((key) => [
        key.id,
        key.name,
        `${key.prefix}…${key.last4}`,
        key.scopes.join(","),
        key.status,
        key.revoked_at ?? key.expires_at ?? "never",
        key.last_used_at ?? "never",
      ]),
    ),
  );
}

async function rotate(id: string, { dataDir, json, overlap, expiresIn }: RotateOptions): Promise<void> {
  const overlap_seconds = requireValue(
    readDuration(overlap, "--overlap", { least: 0, most: 30 * 86_400 }),
    "--overlap",
  );
  const expires_in_seconds = readDuration(expiresIn, "--expires-in");
  const key = await withStores(dataDir, false, ({ db, keys }) =>
    keys().rotate(authorOf(db, id), id, {
      overlap_seconds,
      ...(expires_in_seconds !== undefined && { expires_in_seconds }),
    }),
  );
  if (!json) printBeside(`${id} is good until ${key.previous.expires_at}. Its successor ${key.id}:`);
  print(json, key, () => key.secret);
}

async function revoke(id: string, { dataDir, json }: DataFlags): Promise<void> {
  const answer = await withStores(dataDir, false, ({ db, keys }) => keys().revoke(authorOf(db, id), id));
  print(json, answer, () => `${id} is revoked.`);
}

/** Returns the CLI actor in the project and environment of the key. */
function authorOf(db: Db, keyId: string): Author {
  const select = db.sqlite.query<Scope, [string]>("SELECT project_id, environment FROM api_keys WHERE id = ?");
  const scope = select.get(keyId);
  if (!scope) throw new CliError(`There is no key ${keyId}.`);
  return { ...scope, actor: cliActor() };
}

async function allKeys(keys: KeyStore, scope: Scope) {
  const all: Awaited<ReturnType<KeyStore["list"]>>["data"] = [];
  for (let after: string | null = null, more = true; more; ) {
    const page = { limit: 100, starting_after: after, ending_before: null, order: "asc" as const };
    const { data, has_more, last_id } = await keys.list(scope, { ...page, created_at: [], metadata: [], filters: {} });
    all.push(...data);
    [after, more] = [last_id, has_more];
  }
  return all;
}

/** Turns validation errors of the API into usage errors. */
function asUsage(check: () => void): void {
  try {
    check();
  } catch (error) {
    throw error instanceof Error && error.name === "AppError" ? usageError(error.message) : error;
  }
}

const readList = (text: string | undefined): string[] | null =>
  text === undefined ? null : text.split(",").map((word) => word.trim());

function readScopes(text: string): Permission[] {
  const words = text.split(",").map((word) => word.trim());
  const scopes = permissions.filter((permission) => words.includes(permission));
  if (scopes.length === 0 || words.some((word) => !permissions.some((permission) => permission === word)))
    throw usageError(`--scopes takes ${permissions.join(", ")}, not "${text}".`);
  return scopes;
}
