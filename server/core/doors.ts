/** The protocols by which an agent may be reached beside the API; each is off until its agent says otherwise. */
export const doorNames = ["mcp", "a2a"] as const;
export type DoorName = (typeof doorNames)[number];
export type Doors = Record<DoorName, boolean>;

export const closedDoors: Doors = { mcp: false, a2a: false };
