import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useMemo } from "react";
import { pageOfId, partOfRun } from "../../entities/crud/place-of-id.ts";
import { runOfQuery } from "../../entities/run/run-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { toastFailure } from "../../ui/feedback/toast.ts";
import type { Command, CommandGroup } from "./find-commands.ts";

/** Returns a command that opens a pasted id: its own page, or its run's. Returns none for any other text. */
export function useIdCommands(text: string, onGo: (path: string) => void): CommandGroup[] {
  const openPart = usePartCommand(text, onGo);
  return useMemo(() => {
    const command = openPart ?? placeCommand(text, onGo);
    return command ? [{ value: "Id", items: [command] }] : [];
  }, [openPart, text, onGo]);
}

function placeCommand(text: string, onGo: (path: string) => void): Command | null {
  const place = pageOfId(text);
  if (!place) return null;
  const noun = place.noun.toLowerCase().replace("api", "API");
  return { id: "id", label: `Open ${noun}`, hint: text.trim(), icon: Search, run: () => onGo(place.path) };
}

/** Requests and tool calls have no page, so the run of one is looked up while the menu is open. */
function usePartCommand(text: string, onGo: (path: string) => void): Command | null {
  const at = useWorkspace();
  const client = useQueryClient();
  const part = partOfRun(text);
  const { id = "", noun = "request" } = part ?? {};
  const { data: runId } = useQuery({ ...runOfQuery(at, id), enabled: id !== "" });
  return useMemo(() => {
    if (!id) return null;
    const fallbackPath = noun === "request" ? `/settings?tab=audit&request=${id}` : "/runs";
    const go = (found: string | null) => onGo(found ? `/runs/${found}` : fallbackPath);
    const open = () =>
      void client
        .fetchQuery(runOfQuery(at, id))
        .then(go)
        .catch((error: Error) => toastFailure("Lookup failed", error.message));
    return { id: "id", icon: Search, ...wordsOf(runId, noun, id), run: open };
  }, [at, client, id, noun, runId, onGo]);
}

function wordsOf(runId: string | null | undefined, noun: string, id: string): Pick<Command, "label" | "hint"> {
  if (runId) return { label: `Open the run of this ${noun}`, hint: id };
  if (runId === undefined) return { label: `Find the run of this ${noun}`, hint: id };
  return noun === "request"
    ? { label: "Search the audit log", hint: "No run was created by this request" }
    : { label: "Open the runs", hint: "No run here has this tool call" };
}
