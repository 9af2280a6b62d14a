import type { Static } from "@sinclair/typebox";
import * as t from "../../lib/schema.ts";
import { CreatedAt, Environment, objectOf, ProjectId, UpdatedAt } from "./fields.ts";
import { envelope, resource } from "./schema.ts";

const Metadata = t.about("The pairs under `metadata` in the front matter of `SKILL.md`.", t.map(t.text));

/** Fields that a version has, and a skill of its newest version. */
const content = {
  name: t.about("Its name, which is the name of its folder.", t.text),
  description: t.about("What it is for. The model reads it with every prompt.", t.text),
  version: t.about("The number of the version, from 1.", t.integer),
  license: t.about("The `license` of its front matter; null where it says nothing.", t.orNull(t.text)),
  compatibility: t.about("The `compatibility` of its front matter; null where it says nothing.", t.orNull(t.text)),
  allowed_tools: t.about(
    "The `allowed-tools` of its front matter. They are shown and change nothing: an agent has the tools that you give it.",
    t.list(t.text),
  ),
  bytes: t.about("The length of all its files together, in bytes.", t.integer),
  sha256: t.about("SHA-256 of the paths and contents of all its files.", t.text),
};

export const Skill = resource(
  "Skill",
  "skill",
  {
    ...content,
    files: t.about("How many files its folder holds, in all sub-folders.", t.integer),
    updated_at: UpdatedAt,
  },
  Metadata,
);
export type Skill = Static<typeof Skill>;

const SkillFile = t.named(
  "SkillFile",
  t.object({
    path: t.about("Its path in the skill's folder.", t.text),
    bytes: t.about("Its length in bytes.", t.integer),
    sha256: t.about("SHA-256 of the content.", t.text),
  }),
);

const version = {
  id: t.about("The id that all versions of the skill share: `skl_…`.", t.text),
  object: objectOf("skill_version"),
  ...content,
  metadata: Metadata,
  created_at: CreatedAt,
  project_id: ProjectId,
  environment: Environment,
  ...envelope,
};

export const SkillVersion = t.named(
  "SkillVersion",
  t.object({ ...version, files: t.about("Its files, by path.", t.list(SkillFile)) }),
);
export type SkillVersion = Static<typeof SkillVersion>;

export const SkillVersionListItem = t.named(
  "SkillVersionListItem",
  t.object({ ...version, files: t.about("How many files its folder holds, in all sub-folders.", t.integer) }),
);
