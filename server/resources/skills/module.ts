import type { Base, Module } from "../../http/module.ts";
import { createSkillReader } from "../../runtime/sandbox/skill-reader.ts";
import type { FilesModule } from "../files/module.ts";
import { createArchiveReceiver } from "./receive-archive.ts";
import { skillRoutes } from "./routes.ts";
import { createSkillService } from "./service.ts";
import { createSkillStore } from "./store.ts";

export type SkillsModule = ReturnType<typeof createSkillsModule>;

/** Skills: folders with instructions and files that agents load when they need them. */
export function createSkillsModule({ base, files }: { base: Base; files: FilesModule }) {
  const { blobs, download } = files;
  const skills = createSkillStore({ ...base, blobs });
  const reader = createSkillReader({ level: base.sandbox.level });
  const service = createSkillService({ skills, reader, blobs });
  const receiver = createArchiveReceiver();
  return {
    routes: (auth) => [skillRoutes({ auth, skills, service, receiver, download })],
    store: skills,
    stop: reader.stop,
  } satisfies Module;
}
