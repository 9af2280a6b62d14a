import type { Base, Part } from "../../http/part.ts";
import type { DoorAccess } from "../../http/within.ts";
import type { Journals } from "../../journal/compose.ts";
import type { RunPorts } from "../../runs/compose.ts";
import { durableStreamRoutes } from "./routes.ts";

interface Needs {
  journals: Pick<Journals, "journal">;
  runs: RunPorts;
}

/** The reading side of Durable Streams. */
export const composeDurableStreams = ({ journals: { journal }, runs, ending, now }: Base & Needs) =>
  ({
    ports: {
      routes: ({ auth, noLongerValid }: DoorAccess) =>
        durableStreamRoutes({ ...runs, auth, journal, noLongerValid, ending, now }),
    },
  }) satisfies Part;
