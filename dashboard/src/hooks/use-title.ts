import { useEffect } from "react";
import { visibleText } from "../lib/visible-text.ts";

/** Sets the tab title: “Needs action · Refund desk · runnel”. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, "runnel"].join(" · ");
  useEffect(() => {
    document.title = visibleText(title);
  }, [title]);
}
