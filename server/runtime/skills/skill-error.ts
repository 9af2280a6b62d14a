import { quote } from "../../domain/skills.ts";

/** A fault of an uploaded skill, shown to the person who uploaded it. */
export class SkillError extends Error {}

/** Returns the fault of one entry of the archive; `fault` is the rest of a sentence about it. */
export const entryError = (path: string, fault: string): SkillError => new SkillError(`${quote(path)} ${fault}.`);

export const archiveError = (fault: string): SkillError => new SkillError(`The archive ${fault}.`);
