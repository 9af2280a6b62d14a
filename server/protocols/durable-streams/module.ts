import type { ProtocolPlugin } from "../../http/module.ts";
import type { ProtocolModules } from "../modules.ts";
import { durableStreamRoutes } from "./routes.ts";

/** The reading side of Durable Streams. */
export function createDurableStreams({ base, journals, runs }: ProtocolModules): ProtocolPlugin {
  const { abortSignalOf: ending, now } = base;
  const { journal } = journals;
  const { store, watches, tail, openStream } = runs;
  return ({ auth, noLongerValid }) =>
    durableStreamRoutes({ auth, journal, runs: store, watches, tail, openStream, noLongerValid, ending, now });
}
