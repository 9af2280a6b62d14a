/** Names of the lists by path. */
export const listNames = {
  "/agents": "Agents",
  "/files": "Files",
  "/keys": "API keys",
  "/memory": "Memory",
  "/oauth_clients": "OAuth clients",
  "/runs": "Runs",
  "/schedules": "Schedules",
  "/skills": "Skills",
  "/suites": "Suites",
  "/threads": "Threads",
  "/tools": "Tools",
  "/triggers": "Triggers",
  "/webhooks": "Webhooks",
} as const;

export type ListPath = keyof typeof listNames;

/** API path of a dashboard path. */
export const apiPath = (place: ListPath): string => (place === "/keys" ? "/api_keys" : place);

/** Name of a list for use within a sentence. */
export const listName = (place: ListPath): string =>
  listNames[place].replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
