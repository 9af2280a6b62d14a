/** Which page of the documentation tells how to use a page of the dashboard, by the beginning of its address. */
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
  "/reference": "reference/api",
  "/settings": "start/dashboard",
  "/account": "operate/people",
} as const;

/** Where the guide of a page is. A page without one of its own leads to the concepts. */
export function guideOf(pathname: string): string {
  const begun = pathname.replace(/^\/dashboard/, "").split("/")[1] ?? "";
  const page: string | undefined = (guides as Record<string, string>)[`/${begun}`];
  return `/docs/${page ?? "start/concepts"}`;
}
