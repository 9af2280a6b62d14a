import { groups } from "./nav.tsx";

/** Documentation page of each dashboard page, by the beginning of its path. */
const guides: Record<string, string> = {
  ...Object.fromEntries(Object.values(groups).flatMap((pages) => pages.map(({ to, guide }) => [to, guide]))),
  "/start": "start/quickstart",
  "/account": "operate/people",
};

export const referenceUrl = "/docs/reference/api";

/** Returns the URL of a page's guide; the concepts guide if it has none of its own. */
export function guideOf(pathname: string): string {
  const begun = pathname.replace(/^\/dashboard/, "").split("/")[1] ?? "";
  return `/docs/${guides[`/${begun}`] ?? "start/concepts"}`;
}
