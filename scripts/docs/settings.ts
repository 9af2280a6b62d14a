import type { Command } from "commander";
import { flagsByGroup, type SettingGroup, settingGroups } from "../../server/cli/serve/setting-groups.ts";
import { variables } from "../../server/cli/serve/variables.ts";
import { limitMeanings, limits } from "../../server/domain/limits.ts";
import { defaultLimits, projectLimitMeanings } from "../../server/domain/project-settings.ts";
import { requireValue } from "../../server/lib/require-value.ts";
import { commandsOf, flagsOf } from "./commands.ts";
import { type Page, pageOf } from "./pages.ts";

/**
 * Returns every environment variable: a page for those without a flag, one for those of the server's flags, and one for
 * those of other commands, which links to them.
 */
export function configurationPages(program: Command): Page[] {
  const flags = commandsOf(program).flatMap(({ command, name }) =>
    flagsOf(command).map(({ envVar = "", long }) => ({ envVar, flag: `${long}`, name })),
  );
  const byVariable = [...Map.groupBy(flags, ({ envVar }) => envVar)].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = byVariable.map(([variable, uses]) => {
    const { flag, name } = uses.find((use) => use.name === "serve") ?? (uses as [(typeof uses)[number]])[0];
    return { command: name, row: `| \`${variable}\` | \`${flag}\` |` };
  });
  const rowsOf = Map.groupBy(rows, ({ command }) => command);
  const tableOf = (command: string) =>
    `| Variable | Flag |\n|---|---|\n${(rowsOf.get(command) ?? []).map(({ row }) => row).join("\n")}\n`;
  const commands = [...rowsOf.keys()].filter((command) => command !== "serve").sort();
  const serve = requireValue(
    program.commands.find((command) => command.name() === "serve"),
    "serve",
  );
  const groups = flagsByGroup(serve);
  const linked = groups.map(
    ({ group, flags }) =>
      `- [${group}](commands/serve.md#${anchorOf(group)}): ${flags.map(({ long }) => `\`${long}\``).join(", ")}`,
  );
  const flagTables = groups.map(
    ({ group, flags }) =>
      `## ${group}\n\n| Variable | Flag |\n|---|---|\n${flags.map(({ envVar, long }) => `| \`${envVar}\` | \`${long}\` |`).join("\n")}\n`,
  );
  const own = pageOf(
    "reference/configuration",
    `# Configuration

You configure runnel by flags, by environment variables or by [a file](../operate/configuration-file.md).

A flag counts most, then its variable, then the file, then the default. A switch that is set to \`0\`, \`false\`, \`no\` or \`off\`
is off, and an empty variable is as none.

Each flag has a variable: those of [the server's flags](variables.md) and of [other commands](command-variables.md) have pages of their
own.

## Settings of the server

${linked.join("\n")}

## Variables without a flag

${settingGroups.map(variableTable).filter(Boolean).join("\n")}`,
  );
  const ofFlags = pageOf(
    "reference/variables",
    `# Variables of flags

The environment variable of each flag of the [server](commands/serve.md). Other commands read some of them too.

${flagTables.join("\n")}`,
  );
  const ofCommands = pageOf(
    "reference/command-variables",
    `# Variables of commands

Of flags that the server does not have. Several commands can have the same one: it is below the first.

${commands.map((command) => `## [${command.replaceAll("-", " ")}](commands/${command}.md)\n\n${tableOf(command)}`).join("\n")}`,
  );
  return [own, ofFlags, ofCommands];
}

const anchorOf = (group: SettingGroup): string => group.toLowerCase().replaceAll(" ", "-");

/** Returns the variables without a flag of a group as a table; nothing if it has none. */
function variableTable(group: SettingGroup): string {
  const rows = variables.filter((variable) => variable.group === group);
  if (rows.length === 0) return "";
  return `### ${group}\n\n| Variable | Meaning |\n|---|---|\n${rows.map(({ name, meaning }) => `| \`${name}\` | ${meaning} |`).join("\n")}\n`;
}

/** An operation and its limit. */
interface Counted {
  id: string;
  method: string;
  bucket: string;
}

/** Returns the page of every limit and the operations that count for it. */
export function limitsPage(operations: readonly Counted[]): Page {
  const ofProjects = Object.entries(projectLimitMeanings).map(([name, meaning]) => {
    const value = defaultLimits[name as keyof typeof defaultLimits];
    return `### ${name}\n\n${meaning} Default: ${value}.${countedBy(name, operations)}\n`;
  });
  const rows = Object.entries(limitMeanings).map(
    ([name, meaning]) => `| \`${name}\` | ${limits[name as keyof typeof limits].toLocaleString("en")} | ${meaning} |`,
  );
  return pageOf(
    "reference/limits",
    `# Limits

How much a project may do, and how large requests, agents and runs may be.

[\`GET /v1/me\`](api/me.retrieve.md) returns the limits of your key, and what is left of those per minute.

## Limits of a project

Each environment of a project has these for itself, and all of its keys share them. The operator changes them with
[\`runnel projects limits\`](commands/projects-limits.md). 0 is no limit.

${ofProjects.join("\n")}
## How requests are counted

- No 60 seconds, wherever they begin, have more accepted requests than the limit. What is refused does not count.
- The method and the address decide for which limit a request counts. Responses with 404 and 405 count too.
- \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` tell of that limit. At \`X-RateLimit-Reset\`, in Unix seconds, all of it is there again.
  Of a limit that is off they are 2147483647, 2147483647 and 0.
- Over the limit you get 429 with \`Retry-After\`, in seconds.
- Requests without a valid key count for their address instead: 60 a minute. An IPv6 network of /64 is one address.
- Counts are in memory, and a restart forgets them.

## Projects take turns

Where work waits, such as programs, documents, searches and webhooks, projects and environments take turns. Some places are kept
for those that have no work under way. So one project's work does not hold up another's for long, however much there is of it.

## Fixed limits

Names end in their unit: \`_bytes\`, \`_ms\` for milliseconds, \`_length\` for characters. All others are counts.

| Limit | Value | Of what |
|---|---|---|
${rows.join("\n")}
`,
  );
}

/** Names the operations that count for a limit, if that does not follow from their method. */
function countedBy(limit: string, operations: readonly Counted[]): string {
  const special = operations.filter(
    ({ method, bucket }) =>
      bucket === limit && bucket !== (method === "GET" ? "reads_per_minute" : "writes_per_minute"),
  );
  if (special.length === 0) return "";
  const also = limit === "run_creations_per_minute" ? "They are" : "All `GET` requests count, and";
  return ` ${also} ${special.map(({ id }) => `[\`${id}\`](api/${id}.md)`).join(", ")}.`;
}
