import { Command } from "commander";
import type { createNodeSeal } from "../cluster/between-nodes.ts";
import { adminCommand } from "./admin.ts";
import { runInPlace } from "./command-place.ts";
import { exitCodeOf, explain } from "./exit-code.ts";
import { keysCommand } from "./keys.ts";
import { modelsCommand } from "./models.ts";
import type { Stores } from "./open-data.ts";
import { projectsCommand } from "./projects.ts";

export const commandPath = "/.runnel/command";
export const commandHeader = "x-runnel-command";

/** What a command has said, and how it ended. */
export interface Said {
  stdout: string;
  stderr: string;
  code: number;
}

/** What stands for the path of a command that is signed: its body too, which nobody may change on its way. */
export const sealedPath = (body: string): string =>
  `${commandPath}#${new Bun.CryptoHasher("sha256").update(body).digest("hex")}`;

interface LeaderCommandsOptions {
  seal: ReturnType<typeof createNodeSeal>;
  stores: Stores;
}

/** Runs commands in the leader for whoever has the master key. Null for a request that is none. */
export function createLeaderCommands({ seal, stores }: LeaderCommandsOptions) {
  async function run(args: readonly string[], account: string): Promise<Said> {
    const said = { stdout: "", stderr: "" };
    const say = (where: keyof typeof said, text: string): void => {
      said[where] += `${text}\n`;
    };
    try {
      await runInPlace({ stores, say, account }, () => createProgram(say).parseAsync([...args], { from: "user" }));
      return { ...said, code: 0 };
    } catch (error) {
      const why = explain(error);
      if (why !== null) say("stderr", why);
      return { ...said, code: exitCodeOf(error) };
    }
  }

  return async (request: Request): Promise<Response | null> => {
    const value = request.headers.get(commandHeader);
    if (value === null || request.method !== "POST" || new URL(request.url).pathname !== commandPath) return null;
    const body = await request.text();
    if (!seal.verify(value, "POST", sealedPath(body)))
      return new Response("It was not signed with this cluster's RUNNEL_MASTER_KEY, or its clock is a minute off.", {
        status: 403,
      });
    const { args, account } = JSON.parse(body);
    return Response.json(await run(args, account));
  };
}

/** This process's environment says nothing about a command of somebody else, and its output is theirs. */
function createProgram(say: (where: "stdout" | "stderr", text: string) => void): Command {
  const program = new Command("runnel");
  for (const group of [keysCommand(), projectsCommand(), modelsCommand(), adminCommand()]) program.addCommand(group);
  for (const command of withDescendants(program)) {
    for (const option of command.options) option.envVar = undefined;
    command.exitOverride().configureOutput({
      writeOut: (text) => say("stdout", text.trimEnd()),
      writeErr: (text) => say("stderr", text.trimEnd()),
    });
  }
  return program;
}

const withDescendants = (command: Command): Command[] => [command, ...command.commands.flatMap(withDescendants)];
