import { useEffect } from "react";
import { visibleText } from "./visible-text.ts";

/** Names the tab: “Needs action · Refund desk · runnel”. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, "runnel"].join(" · ");
  useEffect(() => {
    document.title = visibleText(title);
  }, [title]);
}
