import type { ProtocolAccess } from "../../http/internal-client.ts";
import type { Base, Module } from "../../http/module.ts";
import type { RunPorts } from "../../runs/module.ts";
import type { Journals } from "../../storage/journal/module.ts";
import { durableStreamRoutes } from "./routes.ts";

interface Needs {
  journals: Pick<Journals, "journal">;
  runs: RunPorts;
}

/** The reading side of Durable Streams. */
export const composeDurableStreams = ({ journals: { journal }, runs, abortSignalOf, now }: Base & Needs) =>
  ({
    exports: {
      routes: ({ auth, noLongerValid }: ProtocolAccess) =>
        durableStreamRoutes({ ...runs, auth, journal, noLongerValid, ending: abortSignalOf, now }),
    },
  }) satisfies Module;
