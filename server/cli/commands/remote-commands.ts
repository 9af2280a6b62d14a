import { direct } from "../../lib/proxy.ts";
import type { Directory } from "../../storage/replication/directory.ts";
import { type NodeSeal, nodeTls } from "../../storage/replication/node-auth.ts";
import { signCommand } from "../../storage/replication/signed-commands.ts";
import { type CommandChunk, type CommandOrder, commandPath } from "../cluster/leader-commands.ts";
import { CliError, exitCodes } from "./exit-code.ts";
import { type ListedProject, projectsTable } from "./projects.ts";

interface ElsewhereOptions {
  own: string;
  /** All cells of the cluster. */
  cells: readonly string[];
  seal: NodeSeal;
  directory: Directory;
  /** Resolves when the transfer of a project is over; null if there is none. */
  over(project: string): Promise<void> | null;
}

/** Executes a command in this leader. */
type RunHere = (order: CommandOrder) => Response;

/** The cell of a command, and its project if known. */
interface CommandTarget {
  cell: string;
  project?: string;
}

/** Maximum wait of a command for a project in transfer. */
const wait_ms = 10_000;

/** Sends a command to the cell of its project or key; a new project goes to the cell with the fewest projects. */
export function remoteCommands({ own, cells, seal, directory, over }: ElsewhereOptions) {
  async function cellOfProject(nameOrId: string): Promise<CommandTarget> {
    const all = await directory.projects();
    const matching = all.filter(({ project, name }) => project === nameOrId || name === nameOrId);
    const found = matching.find(({ project }) => project === nameOrId) ?? matching[0];
    if (matching.length > 1 && found?.project !== nameOrId)
      throw new CliError(
        `Several cells have a project "${nameOrId}". Name it by its id: ${matching.map(({ project }) => project).join(", ")}.`,
      );
    return found ?? { cell: own };
  }

  async function targetOf([group, verb, ...rest]: readonly string[]): Promise<CommandTarget> {
    const [firstArgument] = rest.slice(rest.indexOf("--") + 1);
    const flag = rest.find((text) => text.startsWith("--project="))?.slice("--project=".length);
    if (group === "projects" && verb === "create") return { cell: await directory.leastLoaded() };
    if (group === "projects" && firstArgument !== undefined) return await cellOfProject(firstArgument);
    if (group !== "keys") return { cell: own };
    if (firstArgument !== undefined) return (await directory.find(firstArgument, true)) ?? { cell: own };
    return await cellOfProject(flag ?? "default");
  }

  /** Returns the target of a command after any transfer of its project is over. */
  async function settledTarget(args: readonly string[]): Promise<CommandTarget> {
    const target = await targetOf(args);
    const moveDone = target.project !== undefined && args[1] !== "move" ? over(target.project) : null;
    if (!moveDone) return target;
    const isOver = await Promise.race([moveDone.then(() => true), Bun.sleep(wait_ms).then(() => false)]);
    if (!isOver) throw new CliError("The project is being moved to another cell. Try again in a moment.");
    return await targetOf(args);
  }

  /** Executes a command at the leader of a cell. */
  async function send(order: CommandOrder, cell: string): Promise<Response> {
    const leader = await directory.findLeaderOf(cell);
    if (!leader) throw new CliError(`No node leads the cell "${cell}" at the moment.`);
    const body = JSON.stringify(order);
    const answer = await fetch(`${leader.address}${commandPath}`, {
      method: "POST",
      body,
      timeout: false,
      headers: signCommand(seal, commandPath, body),
      tls: nodeTls(leader.certificate),
      ...direct,
    } as RequestInit).catch((error) => {
      throw new CliError(`The leader at ${leader.address} is not reached: ${(error as Error).message}`);
    });
    return new Response(answer.body, { status: answer.status, headers: { "content-type": "application/x-ndjson" } });
  }

  /** Lists the projects of all cells, each with its cell. */
  async function listProjects({ args, account }: CommandOrder, here: RunHere): Promise<Response> {
    const order = { args: ["projects", "list", "--json"], account, own: true };
    const warnings: CommandChunk[] = [];
    const lists = await Promise.all(
      cells.map(async (cell) => {
        try {
          const answer = await (cell === own ? here(order) : send(order, cell));
          const [first, last] = (await answer.text())
            .trim()
            .split("\n")
            .map((line) => JSON.parse(line));
          if (last?.code !== 0) throw new CliError(first.stderr?.trim() ?? `The leader of "${cell}" refuses.`);
          const { data } = JSON.parse(first.stdout) as { data: ListedProject[] };
          return data.map((project) => ({ ...project, cell }));
        } catch (error) {
          warnings.push({ stderr: `The projects of the cell "${cell}" are missing: ${(error as Error).message}\n` });
          return [];
        }
      }),
    );
    const all = lists.flat();
    const text = args.includes("--json") ? JSON.stringify({ object: "list", data: all }) : projectsTable(all);
    const lines = [
      { stdout: `${text}\n` },
      ...warnings,
      { code: warnings.length > 0 ? exitCodes.failed : exitCodes.done },
    ];
    return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), {
      headers: { "content-type": "application/x-ndjson" },
    });
  }

  return async (order: CommandOrder, here: RunHere): Promise<Response | null> => {
    if (order.own) return null;
    if (order.args[0] === "projects" && order.args[1] === "list") return await listProjects(order, here);
    const { cell } = await settledTarget(order.args);
    return cell === own ? null : await send(order, cell);
  };
}
