import { cloudKeyVariables, keyVariables } from "../../domain/providers.ts";
import { parsedJson } from "../../lib/json.ts";

/** A program that the operator allows runs to use. */
export interface StdioServer {
  command: string;
  args: string[];
  env: Record<string, string>;
}

type Environment = Record<string, string | undefined>;

/**
 * Reads the servers of `RUNNEL_MCP_<NAME>_COMMAND`, by lowercase name: a JSON array of texts, or words. A server gets
 * only paths and home from our environment, and the variables named in `RUNNEL_MCP_<NAME>_ENV`. Throws if one of them
 * is invalid.
 */
export function readStdioServers(environment: Environment): Record<string, StdioServer> {
  const servers: Record<string, StdioServer> = {};
  for (const [variable, text] of Object.entries(environment)) {
    const [, name] = /^RUNNEL_MCP_([A-Z0-9_]+)_COMMAND$/.exec(variable) ?? [];
    if (name === undefined || !text) continue;
    const [command = "", ...args] = readCommand(variable, text);
    servers[name.toLowerCase()] = { command, args, env: readEnvironment(`RUNNEL_MCP_${name}_ENV`, environment) };
  }
  return servers;
}

function readCommand(variable: string, text: string): string[] {
  if (!text.trimStart().startsWith("[")) {
    const words = text.trim().split(/\s+/);
    if (words[0] !== "" && !/["'\\$`|&;<>]/.test(text)) return words;
    throw new Error(`${variable} is read by no shell: with more than plain words it must be a JSON array of texts.`);
  }
  const words = parsedJson(text);
  if (Array.isArray(words) && words[0] && words.every((word) => typeof word === "string")) return words;
  throw new Error(`${variable} must be a JSON array of texts, such as ["npx", "-y", "some-server"].`);
}

function readEnvironment(variable: string, environment: Environment): Record<string, string> {
  const names = (environment[variable] ?? "").split(/[\s,]+/).filter((name) => name !== "");
  const own = names.find((name) => ownSecret.test(name));
  if (own) throw new Error(`${variable} must not name ${own}: this is for Runnel alone.`);
  return Object.fromEntries(
    names.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}

// With one of these a server could act as runnel or spend its model budget.
const keys = [...keyVariables, ...cloudKeyVariables].map(([, variable]) => variable);
const ownSecret = new RegExp(`^(RUNNEL_.*|${keys.join("|")})$`, "i");
