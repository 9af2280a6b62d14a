/** Documentation page of each dashboard page, by the beginning of its path. */
export const guides = {
  "/overview": "start/dashboard",
  "/start": "start/quickstart",
  "/playground": "start/real-model",
  "/runs": "guides/traces",
  "/approvals": "guides/approvals",
  "/threads": "guides/threads",
  "/agents": "guides/agents",
  "/tools": "guides/http-tools",
  "/memory": "guides/memory",
  "/files": "guides/documents",
  "/suites": "guides/suites-in-ci",
  "/keys": "guides/api-keys",
  "/webhooks": "guides/webhooks",
  "/schedules": "guides/schedules",
  "/settings": "start/dashboard",
  "/account": "operate/people",
} as const;

export const referenceUrl = "/docs/reference/api";

/** Returns the URL of a page's guide; the concepts guide if it has none of its own. */
export function guideOf(pathname: string): string {
  const begun = pathname.replace(/^\/dashboard/, "").split("/")[1] ?? "";
  const page: string | undefined = (guides as Record<string, string>)[`/${begun}`];
  return `/docs/${page ?? "start/concepts"}`;
}
