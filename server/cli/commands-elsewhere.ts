import { type NodeSeal, nodeTls } from "../cluster/between-nodes.ts";
import type { Directory } from "../cluster/directory.ts";
import { CliError } from "./exit-code.ts";
import { type CommandOrder, commandHeader, commandPath, sealedPath } from "./leader-commands.ts";

interface ElsewhereOptions {
  own: string;
  seal: NodeSeal;
  directory: Pick<Directory, "projects" | "find" | "leastLoaded" | "leaderOf">;
}

/** Sends a command on to the cell of the project or key that it names; a new project goes to where there is the most room. */
export function commandsElsewhere({ own, seal, directory }: ElsewhereOptions) {
  async function cellOfProject(nameOrId: string): Promise<string> {
    const all = await directory.projects();
    const named = all.filter(({ project, name }) => project === nameOrId || name === nameOrId);
    const found = named.find(({ project }) => project === nameOrId) ?? named[0];
    if (named.length > 1 && found?.project !== nameOrId)
      throw new CliError(
        `Several cells have a project "${nameOrId}". Name it by its id: ${named.map(({ project }) => project).join(", ")}.`,
      );
    return found?.cell ?? own;
  }

  async function cellOf([group, verb, ...rest]: readonly string[]): Promise<string> {
    const [given] = rest.slice(rest.indexOf("--") + 1);
    const flag = rest.find((text) => text.startsWith("--project="))?.slice("--project=".length);
    if (group === "projects" && verb === "create") return await directory.leastLoaded();
    if (group === "projects" && given !== undefined) return await cellOfProject(given);
    if (group !== "keys") return own;
    if (given !== undefined) return (await directory.find(given, true))?.cell ?? own;
    return await cellOfProject(flag ?? "default");
  }

  return async (order: CommandOrder): Promise<Response | null> => {
    if (order.args[0] === "projects" && order.args[1] === "list") return null;
    const cell = await cellOf(order.args);
    if (cell === own) return null;
    const leader = directory.leaderOf(cell);
    if (!leader) throw new CliError(`Nobody leads the cell "${cell}" at the moment.`);
    const body = JSON.stringify(order);
    const sealed = seal.sign({ peer: null, plain: false }, "POST", sealedPath(commandPath, body));
    const answer = await fetch(`${leader.address}${commandPath}`, {
      ...{ method: "POST", body, timeout: false, headers: { [commandHeader]: sealed } },
      tls: nodeTls(leader.certificate),
    } as RequestInit).catch((error) => {
      throw new CliError(`The leader at ${leader.address} is not reached: ${(error as Error).message}`);
    });
    return new Response(answer.body, { status: answer.status, headers: { "content-type": "application/x-ndjson" } });
  };
}
