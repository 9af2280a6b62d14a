import { describeSkillFault, readSkill } from "../skills/read-skill.ts";
import { serveContent } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";
import { encodePacket } from "./packet.ts";
import { writeOutput } from "./pipes.ts";
import { encodeSkillFile, type SkillChildEnd } from "./skill-packets.ts";

/** Runs a child that reads one archive: writes the files of its skill and exits. */
export const serveSkill = (dropPrivileges: DropPrivileges): Promise<never> => serveContent(dropPrivileges, endOf);

function endOf(archive: Uint8Array): SkillChildEnd {
  try {
    const head = readSkill(archive, (file) => writeOutput(encodePacket("file", encodeSkillFile(file))));
    return { error: null, head };
  } catch (error) {
    return { error: describeSkillFault(error), head: null };
  }
}
