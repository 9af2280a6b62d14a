import type { Command } from "commander";
import { createNodeSeal, nodeTls, passedHeader } from "../cluster/between-nodes.ts";
import { sealOrder } from "../cluster/orders.ts";
import { findLeader } from "../cluster/status.ts";
import { direct } from "../lib/proxy.ts";
import { cliActor } from "./actor.ts";
import { readCells, readKey } from "./cluster-plan.ts";
import { CliError } from "./exit-code.ts";
import { commandPath, type Said } from "./leader-commands.ts";
import { writeBeside, writeOut } from "./output.ts";

/** What the leader has answered; nothing is left to do here. */
class AnsweredByLeader extends CliError {}

/** A cell of a cluster, as a command names it. */
export interface CellFlags {
  cluster: string;
  cell: string;
}

/** The leader of a cell, for whoever has the master key. Where it does not answer with a success, `CliError` says why. */
export async function openLeader({ cluster, cell }: CellFlags) {
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
    /** Sends what nobody but a command sends, with the account by which it is noted. */
    send(path: string, more: object = {}): Promise<Response> {
      const body = JSON.stringify({ ...more, account: cliActor().id });
      return ask(path, { method: "POST", body, headers: sealOrder(seal, path, body) });
    },
    /** Reads what the leader tells its own machine. */
    read: (path: string): Promise<Response> =>
      ask(path, { headers: { [passedHeader]: seal.sign(origin, "GET", path) } }),
  };
}

/** Sends a command to the leader of its cell and says what that says. Always throws: the command does not run here. */
export async function askLeader(command: Command): Promise<never> {
  const leader = await openLeader(command.opts<CellFlags>());
  const answer = await leader.send(commandPath, { args: argumentsOf(command) });
  for await (const said of lines(answer.body!)) {
    if ("code" in said) throw new AnsweredByLeader("", said.code);
    if ("stdout" in said) writeOut(said.stdout);
    else writeBeside(said.stderr);
  }
  throw new CliError(`The leader at ${leader.address} ended before the command did.`);
}

async function* lines(body: ReadableStream<Uint8Array>): AsyncGenerator<Said> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of body) {
    const whole = (text + decoder.decode(piece, { stream: true })).split("\n");
    text = whole.pop()!;
    for (const line of whole) yield JSON.parse(line);
  }
}

/** The command line as the leader has to read it: what the environment here says is said by flags. */
function argumentsOf(command: Command): string[] {
  const path: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) path.unshift(at.name());
  const flags = command.options.flatMap((option) => {
    const name = option.attributeName();
    const isGiven = ["cli", "env"].includes(command.getOptionValueSource(name) ?? "");
    if (!isGiven || ["dataDir", "cluster", "cell"].includes(name)) return [];
    const value = command.getOptionValue(name);
    return value === true ? [option.long!] : [value].flat().map((each) => `${option.long}=${each}`);
  });
  return [...path, ...flags, "--", ...command.args];
}
