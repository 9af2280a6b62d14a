import { Command } from "commander";
import type { RetentionDays } from "../core/project-settings.ts";
import { type Environment, environments } from "../core/scope.ts";
import { timestamp } from "../core/time.ts";
import { CliError, usageError } from "./exit-code.ts";
import { dataDirOption, jsonOption, option } from "./option.ts";
import { print, table } from "./print.ts";

interface Options {
  dataDir: string;
  json?: boolean;
}

interface RetentionOptions extends Options {
  env?: Environment;
  runsDays?: string;
  tracesDays?: string;
}

export function projectsCommand(): Command {
  const projects = new Command("projects").description("make and list projects; each has test and live");
  projects
    .command("create")
    .description("make a project")
    .argument("<name>", "letters, digits, - and _")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ runnel projects create shop")
    .action(create);
  projects
    .command("list")
    .description("list the projects")
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .action(list);
  projects
    .command("retention")
    .description("say how long runs and traces are kept once a run is over; without days: show it")
    .argument("<name>", "project by name")
    .addOption(option("--env <environment>", "test or live; without days: both", { choices: environments }))
    .addOption(option("--runs-days <n>", "delete whole runs after so many days, or: forever"))
    .addOption(option("--traces-days <n>", "delete traces (messages, events, steps) after so many days, or: forever"))
    .addOption(dataDirOption())
    .addOption(jsonOption())
    .addHelpText("after", "\nExample:\n  $ runnel projects retention shop --env live --traces-days 30 --runs-days 365")
    .action(retention);
  return projects;
}

async function openProjects<T>(dataDir: string, make: boolean, work: (store: ProjectStore) => Promise<T>): Promise<T> {
  const { withData } = await import("./open-data.ts");
  const { createProjectStore } = await import("../projects/store.ts");
  return await withData(dataDir, { create: make }, ({ db }) => work(createProjectStore({ db })));
}
type ProjectStore = ReturnType<typeof import("../projects/store.ts").createProjectStore>;
type Project = import("../projects/store.ts").Project;

async function create(name: string, { dataDir, json }: Options): Promise<void> {
  const project = await openProjects(dataDir, true, (projects) => projects.create(name));
  print(json, { id: project.id, name }, () => `${project.id}  ${name}`);
}

async function list({ dataDir, json }: Options): Promise<void> {
  const all = await openProjects(dataDir, false, async (projects) => projects.list());
  const data = all.map(shown);
  print(json, { object: "list", data }, () =>
    table(
      ["ID", "NAME", "CREATED", "TEST KEEPS", "LIVE KEEPS"],
      data.map(({ id, name, created_at, retention: { test, live } }) => [id, name, created_at, days(test), days(live)]),
    ),
  );
}

async function retention(name: string, { dataDir, json, env, runsDays, tracesDays }: RetentionOptions): Promise<void> {
  const change = { runs_days: readDays(runsDays, "--runs-days"), traces_days: readDays(tracesDays, "--traces-days") };
  const changes = runsDays !== undefined || tracesDays !== undefined;
  if (changes && !env) throw usageError("--env says whose days these are: test or live.");
  const project = await openProjects(dataDir, false, async (projects) => {
    const known = projects.byName(name);
    if (!known) throw new CliError(`There is no project "${name}". \`runnel projects list\` names them.`);
    return changes ? await projects.keep(known.id, env!, change) : known;
  });
  const { retention } = shown(project);
  const asked = environments.filter((environment) => !env || environment === env);
  print(json, { project: name, retention }, () =>
    table(
      ["ENVIRONMENT", "KEEPS"],
      asked.map((environment) => [environment, days(retention[environment])]),
    ),
  );
}

/** Null is for ever, undefined is as before. */
function readDays(text: string | undefined, flag: string): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "forever") return null;
  if (!/^[1-9]\d{0,4}$/.test(text))
    throw usageError(`${flag} takes days from 1 to 99999, or "forever", not "${text}".`);
  return Number(text);
}

function shown({ id, name, created_at_ms, settings: { retention } }: Project) {
  const of = (environment: Environment) => ({
    runs_days: retention?.[environment]?.runs_days ?? null,
    traces_days: retention?.[environment]?.traces_days ?? null,
  });
  return { id, name, created_at: timestamp(created_at_ms), retention: { test: of("test"), live: of("live") } };
}

type Kept = { [Field in keyof Required<RetentionDays>]: number | null };

const days = ({ runs_days, traces_days }: Kept): string =>
  runs_days === null && traces_days === null
    ? "everything"
    : `runs ${runs_days ? `${runs_days} days` : "for ever"}, traces ${traces_days ? `${traces_days} days` : "as long"}`;
