import { Command } from "commander";
import type { RetentionDays } from "../../domain/project-settings.ts";
import { type Environment, environments } from "../../domain/scope.ts";
import type { Project, ProjectStore } from "../../resources/projects/store.ts";
import type { Db } from "../../storage/db/open.ts";
import { cliActor } from "./actor.ts";
import { ask, canAsk } from "./ask.ts";
import { commandTarget } from "./command-target.ts";
import { readDays } from "./duration.ts";
import { CliError, usageError } from "./exit-code.ts";
import { requireProject } from "./find-project.ts";
import { type DataFlags, dataDirOption, jsonOption, option } from "./option.ts";
import { print, table } from "./print.ts";
import { addLimitOptions, type LimitFlags, limitRows, readLimits } from "./project-limits.ts";
import { withStores } from "./with-stores.ts";

interface RetentionOptions extends DataFlags {
  env?: Environment;
  runsDays?: string;
  tracesDays?: string;
}

interface MoveOptions extends DataFlags {
  to: string;
  within: string;
}

interface DeleteOptions extends DataFlags {
  yes?: boolean;
}

export function projectsCommand(): Command {
  const projects = new Command("projects").description("make, list and put away projects; each has test and live");
  const add = (name: string, description: string): Command =>
    projects.command(name).description(description).addOption(dataDirOption()).addOption(jsonOption());
  add("create", "make a project")
    .argument("<name>", "letters, digits, - and _")
    .addHelpText("after", "\nExample:\n  $ runnel projects create shop")
    .action(create);
  add("list", "list the projects").action(list);
  add("rename", "give a project another name")
    .argument("<name>", "project by name or id")
    .argument("<new-name>", "letters, digits, - and _")
    .action(rename);
  add("retention", "say how long runs and traces are kept once a run is over; without days: show it")
    .argument("<name>", "project by name or id")
    .addOption(option("--env <environment>", "test or live; without days: both", { choices: environments }))
    .addOption(option("--runs-days <n>", "delete whole runs after so many days, or: forever"))
    .addOption(option("--traces-days <n>", "delete traces (messages, events, steps) after so many days, or: forever"))
    .addHelpText("after", "\nExample:\n  $ runnel projects retention shop --env live --traces-days 30 --runs-days 365")
    .action(retention);
  addLimitOptions(add("limits", "say how much each environment of a project may do; without flags: show it"))
    .argument("<name>", "project by name or id")
    .addHelpText("after", "\nExample:\n  $ runnel projects limits shop --runs-in-progress 50 --usd-per-day 20")
    .action(limits);
  add("origins", "say whose pages may ask the API with client tokens; without --origins: show them")
    .argument("<name>", "project by name or id")
    .addOption(option("--origins <urls>", "origins with commas between them, in place of those before, or: none"))
    .addHelpText(
      "after",
      "\nExample:\n  $ runnel projects origins shop --origins https://shop.example,https://www.shop.example",
    )
    .action(origins);
  add("move", "move a project with everything in it to another cell of its cluster, while both serve")
    .argument("<name>", "project by name or id")
    .addOption(option("--to <cell>", "the cell that it goes to", { env: "RUNNEL_MOVE_TO", required: true }))
    .addOption(
      option("--within <seconds>", "so long steps of its runs may take to their end; else it stays", {
        env: "RUNNEL_MOVE_WITHIN",
        default: "60",
      }),
    )
    .addHelpText(
      "after",
      "\nRuns go on in the other cell behind the steps that they are in. Requests wait for the moment in which it is in neither.\n\nExample:\n  $ runnel projects move shop --to east --cell main,east",
    )
    .action(move);
  add("archive", "put a project away: its keys are refused and its runs cancelled, at once; nothing is deleted")
    .argument("<name>", "project by name or id")
    .action((name: string, options: DataFlags) => setArchived(name, options, "archive"));
  add("unarchive", "take an archived project back into use, with its keys")
    .argument("<name>", "project by name or id")
    .action((name: string, options: DataFlags) => setArchived(name, options, "unarchive"));
  add("delete", "delete a project with everything in it, for good")
    .argument("<name>", "project by name or id")
    .addOption(option("--yes", "do not ask", { env: "RUNNEL_DELETE_YES" }))
    .action(remove);
  return projects;
}

/** Works on an existing project, and returns it as shown. */
async function onProject(
  dataDir: string,
  nameOrId: string,
  work: (projects: ProjectStore, known: Project) => Project | Promise<Project>,
) {
  const project = await withStores(dataDir, false, (stores) => {
    const projects = stores.projects();
    return work(projects, requireProject(projects, nameOrId));
  });
  return (await createProjectSerializer())(project);
}

/** Updates a project if there are changes, and returns it as shown. */
const change = (dataDir: string, nameOrId: string, changes: Parameters<ProjectStore["update"]>[1] | null) =>
  onProject(dataDir, nameOrId, (projects, known) => (changes ? projects.update(known.id, changes, cliActor()) : known));

async function create(name: string, { dataDir, json }: DataFlags): Promise<void> {
  const project = await withStores(dataDir, true, ({ projects }) => projects().create(name, cliActor()));
  print(json, { id: project.id, name }, () => `${project.id}  ${name}`);
}

async function list({ dataDir, json }: DataFlags): Promise<void> {
  const data = (await withStores(dataDir, false, ({ projects }) => projects().list())).map(
    await createProjectSerializer(),
  );
  print(json, { object: "list", data }, () => projectsTable(data));
}

/** A project as in a list; with `cell` if the cluster has several. */
export type ListedProject = ReturnType<Awaited<ReturnType<typeof createProjectSerializer>>> & { cell?: string };

/** Formats the list of projects for people. */
export function projectsTable(data: readonly ListedProject[]): string {
  const hasCells = data.some(({ cell }) => cell !== undefined);
  return table(
    ["ID", "NAME", ...(hasCells ? ["CELL"] : []), "CREATED", "ARCHIVED", "TEST KEEPS", "LIVE KEEPS"],
    data.map(({ id, name, cell, created_at, archived_at, retention: { test, live } }) => [
      id,
      name,
      ...(hasCells ? [cell ?? ""] : []),
      created_at,
      archived_at ?? "no",
      days(test),
      days(live),
    ]),
  );
}

async function rename(nameOrId: string, name: string, { dataDir, json }: DataFlags): Promise<void> {
  const project = await change(dataDir, nameOrId, { name });
  print(json, project, () => `${project.id}  ${name}`);
}

async function retention(name: string, { dataDir, json, env, runsDays, tracesDays }: RetentionOptions): Promise<void> {
  const retentionDays = {
    ...(runsDays !== undefined && { runs_days: readDays(runsDays, "--runs-days") }),
    ...(tracesDays !== undefined && { traces_days: readDays(tracesDays, "--traces-days") }),
  };
  const changes = runsDays !== undefined || tracesDays !== undefined;
  if (changes && !env) throw usageError("--env says whose days these are: test or live.");
  const { name: known, retention } = await onProject(dataDir, name, (projects, known) =>
    changes && env ? projects.keep(known.id, env, retentionDays, cliActor()) : known,
  );
  const selected = environments.filter((environment) => !env || environment === env);
  print(json, { project: known, retention }, () =>
    table(
      ["ENVIRONMENT", "KEEPS"],
      selected.map((environment) => [environment, days(retention[environment])]),
    ),
  );
}

async function limits(name: string, { dataDir, json, ...flags }: DataFlags & LimitFlags): Promise<void> {
  const project = await change(dataDir, name, readLimits(flags));
  const { limits, budget_per_day, unknown_price } = project;
  print(json, { project: project.name, limits, budget_per_day, unknown_price }, () =>
    table(["LIMIT", "OF EACH ENVIRONMENT"], limitRows(project)),
  );
}

async function origins(
  name: string,
  { dataDir, json, origins: originsText }: DataFlags & { origins?: string },
): Promise<void> {
  const originChanges =
    originsText === undefined
      ? null
      : { origins: originsText === "none" ? [] : [...new Set(originsText.split(",").map((one) => one.trim()))] };
  const project = await change(dataDir, name, originChanges);
  const { origins } = project;
  print(json, { project: project.name, origins }, () => origins.join("\n") || "No pages may ask.");
}

async function setArchived(name: string, { dataDir, json }: DataFlags, verb: "archive" | "unarchive"): Promise<void> {
  const project = await onProject(dataDir, name, (projects, { id }) => projects[verb](id, cliActor()));
  print(json, project, () => `${project.name} is ${verb === "archive" ? "archived" : "in use again"}.`);
}

async function move(nameOrId: string, { dataDir, json, to, within }: MoveOptions): Promise<void> {
  if (!/^[1-9]\d{0,3}$/.test(within)) throw usageError(`--within takes 1 to 9999 seconds, not "${within}".`);
  const place = commandTarget();
  if (!place)
    throw new CliError("Only projects of a cluster have cells. --cluster and RUNNEL_MASTER_KEY say of which.");
  const { move } = place;
  if (!move) throw new CliError("This cluster has one cell. Its nodes have to be started with several in --cell.");
  const project = await onProject(dataDir, nameOrId, async (_, known) => {
    await move(known, to, Number(within) * 1000, cliActor());
    return known;
  });
  print(json, { id: project.id, name: project.name, cell: to }, () => `${project.name} is in the cell ${to} now.`);
}

async function remove(name: string, { dataDir, json, yes }: DeleteOptions): Promise<void> {
  const project = await onProject(dataDir, name, async (projects, known) => {
    if (!yes) await confirm(known);
    return await projects.remove(known.id, cliActor());
  });
  // Opened again: an older database was migrated under the lock, which is needed again now.
  await withStores(dataDir, false, ({ db, dir }) => waitUntilErased(db, dir.path, project.id));
  print(json, { id: project.id, object: "project", deleted: true }, () => `${project.name} is deleted.`);
}

async function confirm({ name }: Project): Promise<void> {
  if (!canAsk()) throw usageError("--yes says that the project shall be deleted with everything in it.");
  const typed = await ask(`Everything in ${name} will be deleted, test and live. Type its name to go on: `);
  if (typed.trim() !== name) throw new CliError("Nothing was deleted.");
}

const lookAgain_ms = 100;

/** Erases the project, or waits until the server on this directory has: it erases after ending the project's runs. */
async function waitUntilErased(db: Db, dataDir: string, id: string): Promise<void> {
  const { openDataDir } = await import("../../storage/db/data-dir.ts");
  const { createMemorySweeper } = await import("../../resources/memory/sweeper.ts");
  const { createEraser } = await import("../../resources/projects/erase.ts");
  const first = createMemorySweeper({ db }).eraseOfProject;
  const isThere = db.sqlite.query("SELECT 1 FROM projects WHERE id = ?");
  while (isThere.get(id)) {
    const lock = takeLock(() => openDataDir(dataDir, { lock: true, create: false }));
    if (!lock) await Bun.sleep(lookAgain_ms);
    else await createEraser({ db, first })(id).finally(lock.release);
  }
}

/** Returns null while a server holds the lock. */
function takeLock<T>(open: () => T): T | null {
  try {
    return open();
  } catch (error) {
    if (error instanceof Error && error.name === "DataDirInUse") return null;
    throw error;
  }
}

const createProjectSerializer = async () => (await import("../../resources/projects/shown.ts")).serializeProject;

type RetentionSetting = { [Field in keyof Required<RetentionDays>]: number | null };

const days = ({ runs_days, traces_days }: RetentionSetting): string =>
  runs_days === null && traces_days === null
    ? "everything"
    : `runs ${runs_days ? `${runs_days} days` : "for ever"}, traces ${traces_days ? `${traces_days} days` : "as long"}`;
