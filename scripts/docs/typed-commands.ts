import type { Command } from "commander";
import { commandsOf } from "./commands.ts";

/** Returns the runnel commands in a text's shell blocks, line by line, each split into words. */
export const commandsIn = (markdown: string): string[][] =>
  [...markdown.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```$/gm)]
    .flatMap(([, code = ""]) => code.replaceAll("\\\n", " ").split("\n"))
    .flatMap((line) => /^(?:[A-Z_]+=\S* |runuser -u \S+ -- )*(runnel .*)/.exec(line)?.[1] ?? [])
    .map((line) => wordsOf(line));

/** Splits a line into words, up to a redirection or another command. */
function wordsOf(line: string): string[] {
  const words = line.match(/(?:"[^"]*"|'[^']*'|\$\([^)]*\)|[^\s"'])+/g) ?? [];
  const end = words.findIndex((word) => /^(?:\d*>|<|\||&)/.test(word));
  return words.slice(0, end < 0 ? undefined : end).map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}

/** Returns the fault of a command line; null if it is valid. */
export function faultOf(program: Command, words: readonly string[]): string | null {
  const line = words.join(" ");
  const found = commandsOf(program).find(({ typed }) => `${line} `.startsWith(`${typed} `));
  if (!found) return `${line}: there is no such command`;
  const { command, typed } = found;
  const known = command.registeredArguments;
  const silent = command.exitOverride().configureOutput({ writeErr() {} });
  try {
    const { operands, unknown } = silent.parseOptions(words.slice(typed.split(" ").length));
    if (unknown.length > 0) return `${line}: it has no ${unknown[0]}`;
    const least = known.filter(({ required }) => required).length;
    const most = known.some(({ variadic }) => variadic) ? Number.POSITIVE_INFINITY : known.length;
    return operands.length < least || operands.length > most ? `${line}: it takes other arguments` : null;
  } catch (error) {
    return `${line}: ${(error as Error).message}`;
  }
}
