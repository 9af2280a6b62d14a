import { Command } from "commander";
import type { MoveStatus } from "../../storage/replication/project-transfer.ts";
import { commandTarget } from "../commands/command-target.ts";
import { usageError } from "../commands/exit-code.ts";
import { jsonOption, option } from "../commands/option.ts";
import { print, table } from "../commands/print.ts";

interface StatusFlags {
  cluster?: string;
  json?: boolean;
}

export const clusterOption = () =>
  option("--cluster <url>", "URL of the Postgres that holds the cluster's data, with commas between its hosts", {
    example: "postgres://user:password@db.example.com/runnel",
  });

export const cellOption = () =>
  option(
    "--cell <list>",
    "parts of the cluster with a database of their own, separated by commas. The first one has the accounts",
    { default: "main" },
  );

/** Lets commands run on a cluster: its leader executes them. */
export function sendToLeader(command: Command): Command {
  for (const child of command.commands) sendToLeader(child);
  if (command.commands.length > 0) return command;
  return command
    .addOption(clusterOption())
    .addOption(cellOption())
    .hook("preAction", async (_, action) => {
      if (commandTarget() === null && action.opts().cluster !== undefined)
        await (await import("./leader-client.ts")).requestLeader(action);
    });
}

export function clusterCommand(): Command {
  const cluster = new Command("cluster").description("the cells that are kept in a Postgres, and their nodes");
  cluster
    .command("status")
    .description("who leads each cell, who follows it, and how large it is")
    .addOption(clusterOption())
    .addOption(jsonOption())
    .action(status);
  return cluster;
}

async function status({ cluster, json }: StatusFlags): Promise<void> {
  if (cluster === undefined) throw usageError("Which cluster? --cluster, or RUNNEL_CLUSTER, names its Postgres.");
  const { readCluster } = await import("../../storage/replication/status.ts");
  const { cells, moves } = await readCluster(cluster);
  print(json, { cells, moves }, () =>
    cells.length === 0
      ? "There is no cell yet. The first node makes one: runnel serve --cluster …"
      : `${table(
          ["cell", "leader", "address", "epoch", "row", "log", "pages", "spares", "projects"],
          cells.map(({ cell, leader, address, epoch, head, log, pages, spares, projects }) => [
            cell,
            leader ?? "none",
            address ?? "",
            String(epoch),
            String(head),
            `${log.rows} rows, ${megabytes(log.bytes)}`,
            `${pages.pages}, ${megabytes(pages.bytes)}`,
            spares.map(({ name, behind }) => `${name} (${behind} behind)`).join(", ") || "none",
            projectsText(projects),
          ]),
        )}${moves.map((move) => `\n${moveText(move)}`).join("")}`,
  );
}

const moveText = ({ name, source, target, state }: MoveStatus): string =>
  `${name} is being moved from ${source} to ${target}: ${moveStateTexts[state]}.`;

const moveStateTexts: { readonly [State in MoveStatus["state"]]: string } = {
  waiting: "its runs come to the end of their steps",
  offered: "it is on its way",
  taken: "it is being brought in",
  refused: "it is on its way back",
  undone: "it is on its way back",
};

/** Number of names that fit into a terminal line. */
const maxNames = 5;

const projectsText = (projects: { name: string }[]): string => {
  const names = projects.slice(0, maxNames).map(({ name }) => name);
  const more = projects.length > maxNames ? ` and ${projects.length - maxNames} more` : "";
  return projects.length === 0 ? "none" : names.join(", ") + more;
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
