import type { LucideIcon } from "lucide-react";

/** Returns the commands that contain every word. Matches at the beginning of the label's words rank higher. */
export function findCommands(groups: readonly CommandGroup[], text: string): CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return groups
    .map(({ value, items }) => ({ value, items: words.length ? findIn(items, words) : items.filter(isShown) }))
    .filter(({ items }) => items.length > 0);
}

/**
 * Returns the command that Enter runs if none was highlighted by arrow or pointer: the first visible one. While search
 * results of an earlier text are visible, returns the first of `known`: the commands found without the server.
 */
export function firstCommand(
  seen: readonly CommandGroup[],
  { isOfText, known }: { isOfText: boolean; known: readonly CommandGroup[] },
): Command | undefined {
  return (isOfText ? seen : known)[0]?.items[0];
}

const isShown = ({ isHidden: hidden }: Command): boolean => !hidden;

function findIn(items: readonly Command[], words: readonly string[]): Command[] {
  const found = items
    .map((item) => ({ item, rank: rankOf(item, words) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  return found.map(({ item }) => item);
}

function rankOf({ label, hint = "", searchTerms: also = "" }: Command, words: readonly string[]): number {
  const text = `${label} ${hint} ${also}`.toLowerCase();
  if (!words.every((word) => text.includes(word))) return 0;
  const name = label.toLowerCase();
  if (name.startsWith(words.join(" "))) return 3;
  return words.every((word) => ` ${name}`.includes(` ${word}`)) ? 2 : 1;
}

/** An entry of the command menu: a page to open or an action to run. */
export interface Command {
  id: string;
  label: string;
  icon: LucideIcon;
  /** Text beside the label, which is searched too. */
  hint?: string;
  keys?: string;
  /** Further search terms, not shown. */
  searchTerms?: string;
  /** True if the command is listed only when the search text matches it. */
  isHidden?: boolean;
  run: () => void;
}

/** Commands of one kind; `value` is the heading. */
export interface CommandGroup {
  value: string;
  items: Command[];
}
