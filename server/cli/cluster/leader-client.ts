import type { Command } from "commander";
import { lastItem } from "../../lib/collections.ts";
import { direct } from "../../lib/proxy.ts";
import { requireValue } from "../../lib/require-value.ts";
import { createNodeSeal, nodeTls, passedHeader } from "../../storage/replication/node-auth.ts";
import { signCommand } from "../../storage/replication/signed-commands.ts";
import { findLeader } from "../../storage/replication/status.ts";
import { cliActor } from "../commands/actor.ts";
import { CliError } from "../commands/exit-code.ts";
import { writeBeside, writeOut } from "../commands/output.ts";
import { readCells, readKey } from "./cluster-plan.ts";
import { type CommandChunk, commandPath } from "./leader-commands.ts";

/** Ends a command that the leader has executed, with its exit code. */
class AnsweredByLeader extends CliError {}

/** Flags of a command that name a cell of a cluster. */
export interface CellFlags {
  cluster: string;
  cell: string;
}

/**
 * Creates a client of a cell's leader, authenticated with the master key. Throws `CliError` with the reason unless a
 * response is successful.
 */
export async function createLeaderClient({ cluster, cell }: CellFlags) {
  const seal = createNodeSeal(readKey(process.env.RUNNEL_MASTER_KEY));
  const { address, certificate } = await findLeader(cluster, readCells(cell)[0]);
  const origin = { peer: "127.0.0.1", plain: false };

  async function ask(path: string, init: RequestInit): Promise<Response> {
    const answer = await fetch(`${address}${path}`, {
      ...init,
      timeout: false,
      tls: nodeTls(certificate),
      ...direct,
    } as RequestInit).catch((error) => {
      throw new CliError(`The leader at ${address} is not reached: ${(error as Error).message}`);
    });
    if (!answer.ok) throw new CliError(`The leader at ${address} refuses: ${(await answer.text()).slice(0, 300)}`);
    return answer;
  }

  return {
    address,
    /** Sends a signed command, with the account for the audit log. */
    send(path: string, more: object = {}): Promise<Response> {
      const body = JSON.stringify({ ...more, account: cliActor().id });
      return ask(path, { method: "POST", body, headers: signCommand(seal, path, body) });
    },
    /** Reads a path that is open only to the leader's own machine. */
    read: (path: string): Promise<Response> =>
      ask(path, { headers: { [passedHeader]: seal.sign(origin, "GET", path) } }),
  };
}

/**
 * Executes a command at the leader of its cell and prints its output. Always throws, so that the command does not run
 * here.
 */
export async function requestLeader(command: Command): Promise<never> {
  const leader = await createLeaderClient(command.opts<CellFlags>());
  const answer = await leader.send(commandPath, { args: argumentsOf(command) });
  for await (const chunk of lines(requireValue(answer.body, "The body"))) {
    if ("code" in chunk) throw new AnsweredByLeader("", chunk.code);
    if ("stdout" in chunk) writeOut(chunk.stdout);
    else writeBeside(chunk.stderr);
  }
  throw new CliError(`The leader at ${leader.address} ended before the command did.`);
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<CommandChunk> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of body) {
    const whole = (text + decoder.decode(piece, { stream: true })).split("\n");
    text = lastItem(whole);
    for (const line of whole.slice(0, -1)) yield JSON.parse(line);
  }
}

/** Returns the command line for the leader, with the variables of this environment as flags. */
function argumentsOf(command: Command): string[] {
  const path: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name());
  const flags = command.options.flatMap((option) => {
    const name = option.attributeName();
    const isSet = ["cli", "env"].includes(command.getOptionValueSource(name) ?? "");
    if (!isSet || ["dataDir", "cluster", "cell"].includes(name)) return [];
    const value = command.getOptionValue(name);
    return value === true ? [requireValue(option.long, name)] : [value].flat().map((each) => `${option.long}=${each}`);
  });
  return [...path, ...flags, "--", ...command.args];
}
