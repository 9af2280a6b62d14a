import { useQuery } from "@tanstack/react-query";
import { Bot, BrainCircuit, FileText, ListTree, type LucideIcon, MessagesSquare, Webhook, Wrench } from "lucide-react";
import { useMemo } from "react";
import { type SearchType, searchTypes } from "../../../../server/wire/names.ts";
import type { SearchResult } from "../../../../server/wire/search.ts";
import { searchQuery } from "../../entities/search/search-api.ts";
import { plainLine } from "../../lib/plain-line.ts";
import { useSettled } from "../../lib/use-settled.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { statusWords } from "../../ui/status-pill.tsx";
import type { CommandGroup } from "./find-commands.ts";

const typingPauseMs = 150;
const shortest = 2;

const kinds: Record<SearchType, { words: string; path: string; icon: LucideIcon }> = {
  run: { words: "Runs", path: "/runs/", icon: ListTree },
  thread: { words: "Threads", path: "/threads/", icon: MessagesSquare },
  agent: { words: "Agents", path: "/agents/", icon: Bot },
  tool: { words: "Tools", path: "/tools/", icon: Wrench },
  memory: { words: "Memory stores", path: "/memory/", icon: BrainCircuit },
  file: { words: "Files", path: "/files/", icon: FileText },
  webhook: { words: "Webhooks", path: "/webhooks/", icon: Webhook },
};

/** What the server finds by a text, by its kind, and the way to all runs that have it. */
export function useSearchCommands(
  text: string,
  onGo: (path: string) => void,
): { groups: CommandGroup[]; isSearching: boolean; isOfText: boolean } {
  const q = useSettled(text.trim(), typingPauseMs);
  const isAsked = q.length >= shortest;
  const at = useWorkspace();
  const things = useQuery({ ...searchQuery(at, q, made, mostThings), enabled: isAsked });
  const runs = useQuery({ ...searchQuery(at, q, ["run"], mostRuns), enabled: isAsked });
  const groups = useMemo(() => {
    const found = [...(things.data?.data ?? []), ...(runs.data?.data ?? [])];
    return isAsked ? groupsOf(found, q, runs.data?.has_more ?? false, onGo) : [];
  }, [isAsked, things.data, runs.data, q, onGo]);
  const isOfText = q === text.trim();
  const isOld = !isOfText || things.isPlaceholderData || runs.isPlaceholderData;
  return { groups, isSearching: things.isFetching || runs.isFetching || !isOfText, isOfText: !isOld };
}

/** What is made by hand: asked for apart, or the many runs would hide the few. */
const made = searchTypes.filter((type) => type !== "run");
const order: readonly SearchType[] = [...made, "run"];
const mostThings = 12;
const mostRuns = 8;

/** What was found as commands, under the name of each kind. `hasMore`: there are further runs. */
export function groupsOf(
  found: readonly SearchResult[],
  q: string,
  hasMore: boolean,
  onGo: (path: string) => void,
): CommandGroup[] {
  const byType = Map.groupBy(found, ({ type }) => type);
  return order.flatMap((type) => {
    const { words, path, icon } = kinds[type];
    const items = (byType.get(type) ?? []).map((one) => ({
      id: one.id,
      label: type === "run" ? plainLine(one.title) : one.title,
      icon,
      hint: hintOf(one),
      run: () => onGo(path + one.id),
    }));
    const all = {
      id: "all runs",
      label: `All runs with “${q}”`,
      icon,
      run: () => onGo(`/runs?q=${encodeURIComponent(q)}`),
    };
    if (items.length === 0) return [];
    return [{ value: words, items: type === "run" && hasMore ? [...items, all] : items }];
  });
}

/** What it says where the words are, or what became of it. */
function hintOf({ type, title, snippet, status }: SearchResult): string | undefined {
  if (snippet && !snippet.startsWith(title)) return type === "run" ? plainLine(snippet) : snippet;
  return status && statusWords[status];
}
