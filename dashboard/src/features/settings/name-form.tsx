import { type FormEvent, useRef, useState } from "react";
import { limits } from "../../../../server/core/limits.ts";
import type { Project as ProjectDetails } from "../../../../server/wire/console.ts";
import { faultOf } from "../../lib/fault-of.ts";
import { Field } from "../../ui/field.tsx";
import { SaveBar } from "./save-bar.tsx";
import { useProjectChange } from "./use-project-change.ts";

/** Renames a project. */
export function NameForm({ project, onRenamed }: { project: ProjectDetails; onRenamed: () => void }) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState<string | null>(null);
  const change = useProjectChange(project.id, () => {
    setTyped(null);
    onRenamed();
  });
  const name = typed ?? project.name;
  const edit = (next: string | null) => {
    setTyped(next);
    change.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!change.isPending && name.trim() !== project.name)
      change.mutate({ name: name.trim() }, { onError: () => field.current?.focus() });
  };
  const fault = faultOf(change.error, "name");
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <div className="max-w-90">
        <Field
          ref={field}
          label="Name"
          value={name}
          onChange={(event) => edit(event.target.value)}
          readOnly={change.isPending}
          maxLength={limits.name_length}
          autoComplete="off"
          spellCheck={false}
          hint="1 to 64 letters, digits, - and _."
          error={fault}
        />
      </div>
      <SaveBar
        act="Save name"
        dirty={name.trim() !== project.name}
        saving={change.isPending}
        saved={change.isSuccess}
        error={fault ? null : change.error}
        onDiscard={() => edit(null)}
      />
    </form>
  );
}
