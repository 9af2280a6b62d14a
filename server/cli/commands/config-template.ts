import type { Command, Option } from "commander";
import { flagsByGroup, type SettingGroup, settingGroups } from "../serve/setting-groups.ts";
import { variables } from "../serve/variables.ts";
import { isKey } from "./config-file.ts";
import { defaultOf, exampleOf, isSwitch } from "./option.ts";

/**
 * Returns a configuration file with every setting of `serve`, commented out. A line that begins with `#` and a name is a
 * setting, with its default or, where it has none, an example. A line that begins with `# ` explains it.
 */
export function configTemplate(serve: Pick<Command, "options">): string {
  const flags = flagsByGroup(serve).map(({ group, flags }) => section(group, flags.filter(isKey).map(linesOf)));
  const named = settingGroups.map((group) => section(group, variablesOf(group)));
  return `${head}${flags.join("")}\n${environmentHead}\n[environment]\n${named.join("")}`;
}

const head = `# Settings of runnel. All of them are commented out: remove the # before those that you change.
#
# A line shows the default of a setting, or an example where the default depends on something else.
# A flag of "runnel serve" wins over its variable, and the variable over this file.
#
#   runnel config check runnel.toml      checks this file
#   runnel serve --config runnel.toml    starts the server with it
#   runnel docs operate/configuration-file
`;

const environmentHead = `# Variables without a flag. Replace NAME by a name that you choose.
# Keys are secrets: with them, only the user of the server may read this file (chmod 600 runnel.toml).
`;

/** Returns the lines of a group; nothing for a group without settings. */
const section = (group: SettingGroup, settings: readonly string[]): string =>
  settings.length === 0 ? "" : `\n## ${group}\n\n${settings.join("\n")}`;

function linesOf(option: Option): string {
  const { argChoices, defaultValue, defaultValueDescription } = option;
  const facts = [
    asSentence(option.description),
    argChoices && `One of: ${argChoices.join(", ")}.`,
    defaultValueDescription && `Default: ${defaultOf(option)}.`,
  ].filter(Boolean);
  const shown = isSwitch(option) ? "false" : tomlOf(option, String(defaultValue ?? exampleOf(option) ?? ""));
  return `# ${facts.join(" ")}\n#${option.name()} = ${shown}\n`;
}

/** Returns a value in TOML. */
function tomlOf({ flags }: Option, text: string): string {
  if (/^\d+$/.test(text)) return text;
  if (!flags.endsWith("<list>")) return JSON.stringify(text);
  return `[${text
    .split(",")
    .map((item) => JSON.stringify(item))
    .join(", ")}]`;
}

const variablesOf = (group: SettingGroup): string[] =>
  variables
    .filter((variable) => variable.group === group && !variable.isEarly)
    .map(({ name, meaning }) => `# ${withoutMarks(meaning)}\n#${name.replace("<NAME>", "NAME")} = ""\n`);

/** Removes the marks of Markdown. */
const withoutMarks = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");

const asSentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
