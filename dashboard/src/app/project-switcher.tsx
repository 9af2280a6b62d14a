import { useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChevronsUpDown } from "lucide-react";
import { writePreference } from "../lib/preference.ts";
import type { Project } from "../lib/types.ts";
import { useWorkspace } from "../lib/workspace.ts";
import { Menu } from "../ui/menu.tsx";

/** The project's name; a menu of all projects where there are several. */
export function ProjectSwitcher({ projects, wide = false }: { projects: Project[]; wide?: boolean }) {
  const { project } = useWorkspace();
  const navigate = useNavigate();
  const row = clsx(
    "flex h-9 w-full items-center gap-2 rounded-md text-left font-strong",
    wide ? "px-2" : "justify-center wide:justify-start wide:px-2",
  );
  const choose = (id: string) => {
    writePreference("project", id);
    void navigate({ to: "/runs" });
  };
  const inside = (
    <>
      <span aria-hidden className="grid size-5.5 shrink-0 place-items-center rounded-sm bg-mode text-2xs text-on-mode">
        {[...project.name][0]?.toUpperCase()}
      </span>
      <span className={clsx("cut flex-1", !wide && "hidden wide:block")} title={project.name}>
        {project.name}
      </span>
    </>
  );
  if (projects.length < 2) return <div className={row}>{inside}</div>;
  const trigger = (
    <button type="button" title={project.name} className={clsx(row, "hover:bg-mode-soft")}>
      {inside}
      <ChevronsUpDown
        aria-hidden
        className={clsx("size-4 shrink-0 text-muted", !wide && "hidden wide:block")}
        strokeWidth={1.5}
      />
    </button>
  );
  return (
    <Menu trigger={trigger}>
      {({ MenuChoice }) => (
        <>
          <MenuChoice
            title="Projects"
            value={project.id}
            choices={projects.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={choose}
          />
        </>
      )}
    </Menu>
  );
}
