/** Where lists of things lie, and what they are called. */
export const placeNames = {
  "/agents": "Agents",
  "/files": "Files",
  "/memory": "Memory",
  "/runs": "Runs",
  "/schedules": "Schedules",
  "/suites": "Suites",
  "/threads": "Threads",
  "/tools": "Tools",
  "/webhooks": "Webhooks",
} as const;

export type Place = keyof typeof placeNames;
