import { setPriority } from "node:os";
import { Command } from "commander";
import { type NodeSeal, pathOf } from "../cluster/between-nodes.ts";
import { isOrder, readOrder, unsigned } from "../cluster/orders.ts";
import type { Backups } from "../console/backups.ts";
import type { Actor } from "../db/audit.ts";
import { ownCommand } from "../lib/own-command.ts";
import { adminCommand } from "./admin.ts";
import { type MoveProject, runInPlace } from "./command-place.ts";
import { exitCodeOf, exitCodes, explain } from "./exit-code.ts";
import { keysCommand } from "./keys.ts";
import { logsCommand } from "./logs-command.ts";
import { modelsCommand } from "./models.ts";
import type { Stores } from "./open-data.ts";
import { outsideCluster } from "./outside-cluster.ts";
import { projectsCommand } from "./projects.ts";

export const commandPath = "/.runnel/command";
export const backupPath = "/.runnel/backup";
export const doctorPath = "/.runnel/doctor";

/** A line of the answer to a command: what it says, as it says it, and last how it ended. */
export type Said = { stdout: string } | { stderr: string } | { code: number };

interface LeaderCommandsOptions {
  seal: NodeSeal;
  stores: Stores;
  /** Makes backups as the dashboard does. */
  backups: Pick<Backups, "create" | "download">;
  /** Moves a project to another cell; absent where there is one alone. */
  move?: MoveProject;
  /** Has the leader of another cell run what is that one's; null for what is this cell's. */
  elsewhere?: (order: CommandOrder, here: (order: CommandOrder) => Response) => Promise<Response | null>;
}

/** A command line, and who typed it. */
export interface CommandOrder {
  args: string[];
  account: string;
  /** It is about what this leader's cell has, and no other. */
  own?: boolean;
}

/** Runs commands in the leader for whoever has the master key. Null for a request that is none. */
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
      answer.headers.set("x-runnel-bytes", String(bytes)); // A length of its own would be one of a stream that may end early.
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
          const tell = (said: Said): void => {
            if (!gone.signal.aborted) controller.enqueue(encoder.encode(`${JSON.stringify(said)}\n`));
          };
          const say = (where: "stdout" | "stderr", text: string): void =>
            tell({ [where]: `${text}\n` } as unknown as Said);
          const place = { stores, say, account, gone: gone.signal, move };
          await runInPlace(place, () => createProgram(say).parseAsync(args, { from: "user" })).then(
            () => tell({ code: exitCodes.done }),
            (error) => {
              const why = explain(error);
              if (why !== null) say("stderr", why);
              tell({ code: exitCodeOf(error) });
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
    if (!answer || !isOrder(request)) return null;
    const body = await readOrder(request, seal, { once: true });
    if (!body) return unsigned();
    try {
      return await answer(new TextDecoder().decode(body));
    } catch (error) {
      return new Response(explain(error), { status: 500 });
    }
  };
}

/** What a doctor finds at the leader's machine, in a process of its own: it reads the whole database. */
async function examine(dataDir: string): Promise<Response> {
  const child = Bun.spawn(ownCommand("doctor", "--machine", "--data-dir", dataDir, "--json"), {
    env: outsideCluster(process.env),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  setPriority(child.pid, backgroundPriority);
  return new Response(await new Response(child.stdout).text(), { headers: { "content-type": "application/json" } });
}

const backgroundPriority = 10;

/** This process's environment says nothing about a command of somebody else, and its output is theirs. */
function createProgram(say: (where: "stdout" | "stderr", text: string) => void): Command {
  const program = new Command("runnel");
  for (const group of [keysCommand(), projectsCommand(), modelsCommand(), adminCommand(), logsCommand()])
    program.addCommand(group);
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
