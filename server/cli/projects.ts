import { Command } from "commander";
import { timestamp } from "../core/time.ts";
import { dataDirOption, jsonOption } from "./option.ts";
import { print, table } from "./print.ts";

interface Options {
  dataDir: string;
  json?: boolean;
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
  return projects;
}

async function openProjects<T>(dataDir: string, make: boolean, work: (store: ProjectStore) => Promise<T>): Promise<T> {
  const { withData } = await import("./open-data.ts");
  const { createProjectStore } = await import("../projects/store.ts");
  return await withData(dataDir, { create: make }, ({ db }) => work(createProjectStore({ db })));
}
type ProjectStore = ReturnType<typeof import("../projects/store.ts").createProjectStore>;

async function create(name: string, { dataDir, json }: Options): Promise<void> {
  const project = await openProjects(dataDir, true, (projects) => projects.create(name));
  print(json, { id: project.id, name }, () => `${project.id}  ${name}`);
}

async function list({ dataDir, json }: Options): Promise<void> {
  const all = await openProjects(dataDir, false, async (projects) => projects.list());
  const data = all.map(({ id, name, created_at_ms }) => ({ id, name, created_at: timestamp(created_at_ms) }));
  print(json, { object: "list", data }, () =>
    table(
      ["ID", "NAME", "CREATED"],
      data.map(({ id, name, created_at }) => [id, name, created_at]),
    ),
  );
}
