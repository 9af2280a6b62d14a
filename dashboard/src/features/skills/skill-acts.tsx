import { Trash2 } from "lucide-react";
import { useState } from "react";
import type { Skill } from "../../../../server/domain/api-types/skill.ts";
import { skillApi } from "../../entities/skill/skill-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";

/** Menu of a skill's actions. */
export function SkillActs({ skill, onDeleted }: { skill: Skill; onDeleted?: () => void }) {
  const at = useWorkspace();
  const [isDeleting, setDeleting] = useState(false);
  return (
    <>
      <ActionsMenu
        of={skill.name}
        acts={[{ icon: Trash2, word: "Delete skill", danger: true, onDo: () => setDeleting(true) }]}
      />
      {isDeleting && (
        <DeleteDialog
          noun="skill"
          name={skill.name}
          remove={() => skillApi.remove(at, skill.id)}
          stale={[skillApi.all(at)]}
          onClose={() => setDeleting(false)}
          onDeleted={onDeleted}
        >
          New runs of its agents do without it. Its files are erased once no run that has it is left.
        </DeleteDialog>
      )}
    </>
  );
}
