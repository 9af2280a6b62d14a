import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import type { Skill } from "../../../../server/domain/api-types/skill.ts";
import type { Definition } from "../../entities/agent/definition.ts";
import { skillApi } from "../../entities/skill/skill-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";

type Chosen = Definition["skills"];

/** Checkboxes that select an agent's skills from all skills of the project. A chosen version stays as it is. */
export function SkillPicker({
  chosen,
  fault,
  onChoose,
}: {
  chosen: Chosen;
  fault?: string | null;
  onChoose: (skills: Chosen) => void;
}) {
  const id = useId();
  const skills = useQuery({ ...skillApi.every(useWorkspace()), refetchOnWindowFocus: "always" });
  if (skills.error) return <ErrorNote title="The skills cannot be shown" error={skills.error} />;
  if (skills.isPending) return <p className="text-muted">Loading skills</p>;
  const gone = chosen.filter(({ skill_id }) => skills.data.every((skill) => skill.id !== skill_id));
  if (skills.data.length + gone.length === 0)
    return <p className="text-muted">There are no skills yet. Upload one on the page Skills, and select it here.</p>;
  const toggle = (skill: Pick<Skill, "id" | "name">, on: boolean) =>
    onChoose(
      on
        ? [...chosen, { skill_id: skill.id, name: skill.name, version: null }]
        : chosen.filter(({ skill_id }) => skill_id !== skill.id),
    );
  return (
    <fieldset aria-describedby={`${id}-fault`} className="flex min-w-0 flex-col gap-2">
      <legend className="sr-only">Skills of the agent</legend>
      <span aria-live="polite" className="text-xs text-muted">
        {chosen.length === 0 ? "None selected" : `${plural(chosen.length, "skill")} selected`}
      </span>
      <div className="max-h-80 overflow-y-auto rounded-md border border-line">
        {skills.data.map((skill) => (
          <SkillChoice
            key={skill.id}
            skill={skill}
            version={chosen.find(({ skill_id }) => skill_id === skill.id)?.version ?? null}
            on={chosen.some(({ skill_id }) => skill_id === skill.id)}
            onToggle={toggle}
          />
        ))}
        {gone.map(({ skill_id, name, version }) => (
          <SkillChoice
            key={skill_id}
            skill={{ id: skill_id, name, description: "This skill was deleted." }}
            version={version}
            on
            onToggle={toggle}
          />
        ))}
      </div>
      <p id={`${id}-fault`} className="text-xs text-bad empty:hidden">
        {fault}
      </p>
    </fieldset>
  );
}

function SkillChoice({
  skill,
  version,
  on,
  onToggle,
}: {
  skill: Pick<Skill, "id" | "name" | "description">;
  version: number | null;
  on: boolean;
  onToggle: (skill: Pick<Skill, "id" | "name">, on: boolean) => void;
}) {
  return (
    <label className="flex min-h-(--control) cursor-pointer items-center gap-2.5 border-b border-line-soft px-3 py-1.5 last:border-b-0 hover:bg-hover has-checked:bg-accent-soft has-focus-visible:bg-hover">
      <input type="checkbox" checked={on} onChange={(event) => onToggle(skill, event.target.checked)} />
      <span className="min-w-0 flex-1">
        <span className="font-medium wrap-anywhere">{skill.name}</span>
        <span className="cut block text-xs text-muted">{skill.description}</span>
      </span>
      {version !== null && <Badge>version {version}</Badge>}
    </label>
  );
}
