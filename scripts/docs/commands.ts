import type { Command, Option } from "commander";
import { defaultOf, exampleOf } from "../../server/cli/commands/option.ts";
import { flagsByGroup } from "../../server/cli/serve/setting-groups.ts";
import { cell } from "./fields.ts";
import { type Page, pageOf, pageThatFits } from "./pages.ts";

interface Typed {
  command: Command;
  /** `runnel keys create` */
  typed: string;
  /** Its page in `reference/commands`: `keys-create`. */
  name: string;
}

/** Returns a page for each command with its flags, and one that lists them. */
export function commandPages(program: Command): Page[] {
  const all = commandsOf(program);
  const list = all.map(
    ({ command, typed, name }) => `- [\`${typed}\`](${name}.md): ${sentence(command.description())}`,
  );
  const about = `Every command of the executable. \`runnel <command> --help\` prints the same. Each flag can also be given by an environment variable: see [configuration](../configuration.md).

\`run\`, \`trace\` and \`suite\` talk to a server: by default the one that runs on the data directory, whose certificate they trust. All others work on the data directory itself, also while the server runs; only \`restore\` needs a stopped server.

\`--json\` prints one JSON object to standard output. Logs go to standard error.`;
  const codes =
    "- 0: the command is done.\n- 1: it failed. For `run`, the run did not complete; for `suite run`, a case came out otherwise.\n- 2: it was typed wrongly. For `suite`, also: no such suite, a refused key, no server, or out of time.\n- 3: `apply --dry-run` has found something that would change.\n- 75: another process uses the data directory.\n- 78: the database is newer than the executable, or there is no way into the cluster.\n- 141: the reader of the output is gone, as in `runnel docs | head`.";
  const index = pageOf(
    "reference/commands/index",
    `# Command line\n\n${about}\n\n${list.join("\n")}\n\n## Exit codes\n\n${codes}\n`,
  );
  return [index, ...all.map(commandPage)];
}

function commandPage({ command, typed, name }: Typed): Page {
  const parts = [`# ${typed}`, sentence(command.description()), `\`\`\`sh\n${typed} ${command.usage()}\n\`\`\``];
  const args = command.registeredArguments.map((one) => `- \`${one.name()}\`: ${sentence(one.description)}`);
  if (args.length > 0) parts.push(`## Arguments\n\n${args.join("\n")}`);
  const groups = flagsByGroup(command);
  const flags: readonly { group: string; flags: readonly Option[] }[] =
    groups.length > 0 ? groups : [{ group: "Flags", flags: flagsOf(command) }];
  return pageThatFits(`reference/commands/${name}`, [true, false], (hasExamples) => {
    const tables = flags
      .filter(({ flags }) => flags.length > 0)
      .map(({ group, flags }) => `## ${group}\n\n${tableOf(flags, hasExamples)}`);
    return `${[...parts, ...tables].join("\n\n")}\n`;
  });
}

const tableOf = (flags: readonly Option[], hasExamples: boolean): string =>
  `| Flag | Variable | Meaning |\n|---|---|---|\n${flags.map((flag) => rowOf(flag, hasExamples)).join("\n")}`;

function rowOf(option: Option, hasExample: boolean): string {
  const { flags, envVar, description, argChoices, defaultValueDescription } = option;
  const [usual, example] = [defaultOf(option), exampleOf(option)];
  const facts = [
    sentence(description),
    argChoices && `One of ${argChoices.map((choice) => `\`${choice}\``).join(", ")}.`,
    usual && `Default: ${defaultValueDescription ?? `\`${usual}\``}.`,
    hasExample && example && `Example: \`${example}\`.`,
  ].filter(Boolean);
  return `| \`${flags}\` | \`${envVar}\` | ${cell(facts.join(" "))} |`;
}

/** Returns every executable command, as typed. */
export function commandsOf(program: Command): Typed[] {
  const doing = (command: Command, words: readonly string[]): Typed[] => {
    const below = command.commands.flatMap((child) => doing(child, [...words, child.name()]));
    const isGroup = command.commands.length > 0 && command.registeredArguments.length === 0;
    return isGroup ? below : [...below, { command, typed: words.join(" "), name: words.slice(1).join("-") }];
  };
  return doing(program, [program.name()]);
}

export const flagsOf = (command: Command): readonly Option[] => command.options.filter(({ hidden }) => !hidden);

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
