import type { Skill } from "../../../../server/domain/api-types/skill.ts";
import { resource } from "../crud/resource.ts";

export const skillApi = resource<Skill>("skills", ({ name }) => name);
