import type { Command, Option } from "commander";

/** Groups of the server's settings, in the order of `--help`, the reference and the configuration file. */
export const settingGroups = [
  "Address and TLS",
  "Data",
  "Models",
  "Agents and tools",
  "Sign-in and keys",
  "Mail",
  "Backups",
  "Cluster",
  "Monitoring",
  "Configuration and log",
] as const;

export type SettingGroup = (typeof settingGroups)[number];

/** Returns the heading of a group in `--help`. */
export const headingOf = (group: SettingGroup): string => `${group}:`;

/** Returns the flags of a command by group, without groups that have none. */
export const flagsByGroup = ({ options }: Pick<Command, "options">): { group: SettingGroup; flags: Option[] }[] =>
  settingGroups
    .map((group) => ({ group, flags: options.filter(({ helpGroupHeading }) => helpGroupHeading === headingOf(group)) }))
    .filter(({ flags }) => flags.length > 0);
