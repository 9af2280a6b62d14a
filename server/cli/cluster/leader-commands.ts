import { Command } from "commander";
import type { Backups } from "../../dashboard-api/backups.ts";
import { selfCommand } from "../../lib/self-command.ts";
import { setBackgroundPriority } from "../../lib/thread-priority.ts";
import type { Actor } from "../../storage/db/audit.ts";
import { type NodeSeal, pathOf } from "../../storage/replication/node-auth.ts";
import { isCommand, readCommand, unsigned } from "../../storage/replication/signed-commands.ts";
import { adminCommand } from "../commands/admin.ts";
import { type MoveProject, runAtTarget } from "../commands/command-target.ts";
import { connectionsCommand } from "../commands/connections.ts";
import { exitCodeOf, exitCodes, explain } from "../commands/exit-code.ts";
import { keysCommand } from "../commands/keys.ts";
import { logsCommand } from "../commands/logs-command.ts";
import { modelsCommand } from "../commands/models.ts";
import type { Stores } from "../commands/open-data.ts";
import { projectsCommand } from "../commands/projects.ts";
import { outsideCluster } from "./outside-cluster.ts";

export const commandPath = "/.runnel/command";
export const backupPath = "/.runnel/backup";
export const doctorPath = "/.runnel/doctor";

/** A line of the response to a command: a piece of its output, or finally its exit code. */
export type CommandChunk = { stdout: string } | { stderr: string } | { code: number };

interface LeaderCommandsOptions {
  seal: NodeSeal;
  stores: Stores;
  /** Creates backups as the dashboard does. */
  backups: Backups;
  /** Moves a project to another cell; undefined if there is only one. */
  move?: MoveProject;
  /** Executes a command of another cell at its leader; returns null for a command of this cell. */
  elsewhere?: (order: CommandOrder, here: (order: CommandOrder) => Response) => Promise<Response | null>;
}

/** A command line, and the account that ran it. */
export interface CommandOrder {
  args: string[];
  account: string;
  /** Restricts the command to this leader's cell. */
  own?: boolean;
}

/** Executes signed commands in the leader. Returns null for any other request. */
export function createLeaderCommands(options: LeaderCommandsOptions) {
  const { seal, stores, backups, move = null, elsewhere = async () => null } = options;

  const answers: Record<string, (body: string) => Response | Promise<Response>> = {
    async [commandPath](body) {
      const order: CommandOrder = JSON.parse(body);
      return (await elsewhere(order, run)) ?? run(order);
    },
    async [backupPath](body) {
      const actor: Actor = { type: "cli", id: JSON.parse(body).account, ip: null, request_id: null };
      const { id, bytes } = await backups.create(actor);
      const answer = await backups.download(id, actor);
      answer.headers.set("x-runnel-bytes", String(bytes)); // Not as content-length: the stream may end early.
      return answer;
    },
    [doctorPath]: () => examine(stores.dir.path),
  };

  function run({ args, account }: CommandOrder): Response {
    const gone = new AbortController();
    const encoder = new TextEncoder();
    return new Response(
      new ReadableStream<Uint8Array>({
        async start(controller) {
          const send = (chunk: CommandChunk): void => {
            if (!gone.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(chunk)}\n`));
          };
          const say = (where: "stdout" | "stderr", text: string): void =>
            send({ [where]: `${text}\n` } as unknown as CommandChunk);
          const place = { stores, say, account, gone: gone.signal, move };
          await runAtTarget(place, () => createProgram(say).parseAsync(args, { from: "user" })).then(
            () => send({ code: exitCodes.done }),
            (error) => {
              const why = explain(error);
              if (why !== null) say("stderr", why);
              send({ code: exitCodeOf(error) });
            },
          );
          if (!gone.signal.aborted) controller.close();
        },
        cancel: () => gone.abort(),
      }),
      { headers: { "content-type": "application/x-ndjson" } },
    );
  }

  return async (request: Request): Promise<Response | null> => {
    const answer = answers[pathOf(request.url)];
    if (!answer || !isCommand(request)) return null;
    const body = await readCommand(request, seal, { once: true });
    if (!body) return unsigned();
    try {
      return await answer(new TextDecoder().decode(body));
    } catch (error) {
      return new Response(explain(error), { status: 500 });
    }
  };
}

/** Runs the doctor on the leader's machine, in a separate process because it reads the whole database. */
async function examine(dataDir: string): Promise<Response> {
  const child = Bun.spawn(selfCommand("doctor", "--machine", "--data-dir", dataDir, "--json"), {
    env: outsideCluster(process.env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  setBackgroundPriority(child.pid);
  return new Response(await new Response(child.stdout).text(), { headers: { "content-type": "application/json" } });
}

/** Creates the commands without environment variables, which are the leader's own, and with `say` for their output. */
function createProgram(say: (where: "stdout" | "stderr", text: string) => void): Command {
  const program = new Command("runnel");
  const groups = [
    keysCommand(),
    projectsCommand(),
    modelsCommand(),
    connectionsCommand(),
    adminCommand(),
    logsCommand(),
  ];
  for (const group of groups) program.addCommand(group);
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
