import type { Command } from "commander";
import { createNodeSeal } from "../cluster/between-nodes.ts";
import { findLeader } from "../cluster/status.ts";
import { cliActor } from "./actor.ts";
import { readKey } from "./cluster-plan.ts";
import { CliError } from "./exit-code.ts";
import { commandHeader, commandPath, type Said, sealedPath } from "./leader-commands.ts";

/** What the leader has answered; nothing is left to do here. */
class AnsweredByLeader extends CliError {}

/** Sends a command to the leader of its cell and says what that says. Always throws: the command does not run here. */
export async function askLeader(command: Command): Promise<never> {
  const { cluster, cell } = command.opts<{ cluster: string; cell: string }>();
  const seal = createNodeSeal(readKey(process.env.RUNNEL_MASTER_KEY));
  const { address, certificate } = await findLeader(cluster, cell);
  const body = JSON.stringify({ args: argumentsOf(command), account: cliActor().id });
  const origin = { peer: null, plain: false };
  const answer = await fetch(`${address}${commandPath}`, {
    ...{ method: "POST", body },
    headers: { [commandHeader]: seal.sign(origin, "POST", sealedPath(body)) },
    ...(certificate && { tls: { ca: certificate, checkServerIdentity: () => undefined } }),
  } as RequestInit).catch((error) => {
    throw new CliError(`The leader at ${address} is not reached: ${(error as Error).message}`);
  });
  if (!answer.ok) throw new CliError(`The leader at ${address} refuses: ${(await answer.text()).slice(0, 300)}`);
  const { stdout, stderr, code } = (await answer.json()) as Said;
  process.stdout.write(stdout);
  throw new AnsweredByLeader(stderr.trimEnd(), code);
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
