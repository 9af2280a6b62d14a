import { useQuery } from "@tanstack/react-query";
import { Bot, BrainCircuit, FileText, ListTree, type LucideIcon, MessagesSquare, Webhook, Wrench } from "lucide-react";
import { useMemo } from "react";
import { type SearchType, searchTypes } from "../../../../server/domain/api-types/enums.ts";
import type { SearchResult } from "../../../../server/domain/api-types/search.ts";
import { searchQuery } from "../../entities/search/search-api.ts";
import { useDebouncedValue } from "../../hooks/use-debounced-value.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { statusWords } from "../../ui/data/status-pill.tsx";
import type { CommandGroup } from "./find-commands.ts";

const typingPauseMs = 150;
const minQueryLength = 2;

const kinds: Record<SearchType, { words: string; path: string; icon: LucideIcon }> = {
  run: { words: "Runs", path: "/runs/", icon: ListTree },
  thread: { words: "Threads", path: "/threads/", icon: MessagesSquare },
  agent: { words: "Agents", path: "/agents/", icon: Bot },
  tool: { words: "Tools", path: "/tools/", icon: Wrench },
  memory: { words: "Memory stores", path: "/memory/", icon: BrainCircuit },
  file: { words: "Files", path: "/files/", icon: FileText },
  webhook: { words: "Webhooks", path: "/webhooks/", icon: Webhook },
};

/** Returns the server's search results as commands, by type, with a link to all matching runs. */
export function useSearchCommands(
  text: string,
  onGo: (path: string) => void,
): { groups: CommandGroup[]; isSearching: boolean; isOfText: boolean } {
  const q = useDebouncedValue(text.trim(), typingPauseMs);
  const isEnabled = q.length >= minQueryLength;
  const at = useWorkspace();
  const things = useQuery({ ...searchQuery(at, q, nonRunTypes, maxObjects), enabled: isEnabled });
  const runs = useQuery({ ...searchQuery(at, q, ["run"], maxRuns), enabled: isEnabled });
  const groups = useMemo(() => {
    const found = [...(things.data?.data ?? []), ...(runs.data?.data ?? [])];
    return isEnabled ? groupsOf(found, q, runs.data?.has_more ?? false, onGo) : [];
  }, [isEnabled, things.data, runs.data, q, onGo]);
  const isOfText = q === text.trim();
  const isStale = !isOfText || things.isPlaceholderData || runs.isPlaceholderData;
  return { groups, isSearching: things.isFetching || runs.isFetching || !isOfText, isOfText: !isStale };
}

/** All types except runs. They are queried separately, because the many runs would hide them. */
const nonRunTypes = searchTypes.filter((type) => type !== "run");
const order: readonly SearchType[] = [...nonRunTypes, "run"];
const maxObjects = 12;
const maxRuns = 8;

/** Groups search results by type, as commands. `hasMore`: there are more runs. */
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
      label: type === "run" ? markdownToText(one.title) : one.title,
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

/** Returns the matching snippet, or the status if there is none beyond the title. */
function hintOf({ type, title, snippet, status }: SearchResult): string | undefined {
  if (snippet && !snippet.startsWith(title)) return type === "run" ? markdownToText(snippet) : snippet;
  return status && statusWords[status];
}
