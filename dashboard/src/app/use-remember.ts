import { useRouter } from "@tanstack/react-router";
import { useEffect } from "react";
import { rememberRecent } from "../features/command-menu/recent.ts";
import type { Workspace } from "../lib/workspace.ts";

/** Records opened objects, with their tab titles, as recently viewed. */
export function useRecordRecent(at: Workspace | null): void {
  const router = useRouter();
  useEffect(() => {
    const title = document.querySelector("title");
    if (!at || !title) return;
    const onTitle = () => {
      const { matches, location } = router.state;
      const isObject = matches.at(-1)?.fullPath.includes("$");
      const name = document.title.replace(/ · runnel$/, "");
      if (isObject && !/^No such|^runnel$/.test(name)) rememberRecent(at, { path: location.pathname, title: name });
    };
    const observer = new MutationObserver(onTitle);
    observer.observe(title, { childList: true, characterData: true, subtree: true });
    return () => observer.disconnect();
  }, [at, router]);
}
