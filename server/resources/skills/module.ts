import type { Base, Module } from "../../http/module.ts";
import { createSkillReader } from "../../runtime/sandbox/skill-reader.ts";
import type { Journals } from "../../storage/journal/module.ts";
import type { FilesModule } from "../files/module.ts";
import { createArchiveReceiver } from "./receive-archive.ts";
import { skillRoutes } from "./routes.ts";
import { createSkillService } from "./service.ts";
import { createSkillErasure } from "./skill-erasure.ts";
import { createSkillUses } from "./skill-uses.ts";
import { createSkillStore } from "./store.ts";

export type SkillsModule = ReturnType<typeof createSkillsModule>;

/** Skills: folders with instructions and files that agents load when they need them. */
export function createSkillsModule({ base, journals, files }: { base: Base; journals: Journals; files: FilesModule }) {
  const { blobs, download } = files;
  const erasure = createSkillErasure({ ...base, blobs });
  const skills = createSkillStore({ ...base, blobs, erasure });
  const reader = createSkillReader({ level: base.sandbox.level });
  const service = createSkillService({ skills, reader, blobs });
  const receiver = createArchiveReceiver();
  journals.onPin(createSkillUses(base));
  return {
    routes: (auth) => [skillRoutes({ auth, skills, service, receiver, download })],
    store: skills,
    /** Expiry of what belongs to deleted skills. */
    deleteExpired: [erasure.forgetDeleted],
    stop: reader.stop,
  } satisfies Module;
}
