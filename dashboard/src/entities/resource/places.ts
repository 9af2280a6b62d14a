/** Where lists of things lie, and what they are called. */
export const placeNames = {
  "/agents": "Agents",
  "/files": "Files",
  "/keys": "API keys",
  "/memory": "Memory",
  "/runs": "Runs",
  "/schedules": "Schedules",
  "/suites": "Suites",
  "/threads": "Threads",
  "/tools": "Tools",
  "/webhooks": "Webhooks",
} as const;

export type Place = keyof typeof placeNames;

/** Where the API has what lies in a place of the dashboard. */
export const apiPlace = (place: Place): string => (place === "/keys" ? "/api_keys" : place);

/** What it is called within a sentence. */
export const placeName = (place: Place): string =>
  placeNames[place].replace(/^[A-Z](?=[a-z])/, (first) => first.toLowerCase());
