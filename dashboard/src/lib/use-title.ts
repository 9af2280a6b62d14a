import { useEffect } from "react";

/** Names the tab: “Needs action · Refund desk · runnel”. */
export function useTitle(...parts: string[]): void {
  const title = [...parts, "runnel"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
