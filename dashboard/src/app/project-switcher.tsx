import { clsx } from "clsx";
import { ChevronsUpDown, Plus } from "lucide-react";
import { type ComponentProps, cloneElement, lazy, useState } from "react";
import { usePermission } from "../entities/session/use-may.ts";
import { type Project, useWorkspace } from "../lib/workspace.ts";
import { Menu } from "../ui/dialogs/menu.tsx";
import { LazyBoundary } from "../ui/feedback/lazy-boundary.tsx";
import type { ProjectPickerProps } from "./project-picker.tsx";
import { useRefreshSession } from "./use-refresh-session.ts";
import { useChooseProject } from "./use-switch-mode.ts";

/** Lazy: creating a project is rare. */
const NewProject = lazy(() =>
  import("../features/settings/new-project.tsx").then((module) => ({ default: module.NewProject })),
);

/** Lazy: only needed with many projects. */
const ProjectPicker = lazy(() => import("./project-picker.tsx").then((module) => ({ default: module.ProjectPicker })));

/** Number of projects from which a search field is shown. */
const searchFrom = 8;

/** The project's name with a menu of all projects and an entry to create one. */
export function ProjectSwitcher({ projects, wide = false }: { projects: Project[]; wide?: boolean }) {
  const { project } = useWorkspace();
  const choose = useChooseProject();
  const may = usePermission("owner");
  const refresh = useRefreshSession();
  const [making, setMaking] = useState<boolean | null>(null);
  const openCreated = async (id: string) => {
    await refresh();
    await choose(id);
  };
  const trigger = <SwitcherButton name={project.name} wide={wide} />;
  const onNew = may ? () => setMaking(true) : undefined;
  const chosen = { projects, chosen: project.id, onChoose: choose, onNew };
  return (
    <>
      {projects.length < searchFrom ? (
        <ProjectMenu trigger={trigger} {...chosen} />
      ) : (
        <SearchedProjects trigger={trigger} {...chosen} />
      )}
      {making !== null && (
        <LazyBoundary>
          <NewProject open={making} onOpenChange={setMaking} onCreated={openCreated} />
        </LazyBoundary>
      )}
    </>
  );
}

function ProjectMenu({ trigger, projects, chosen, onChoose, onNew }: ProjectPickerProps) {
  return (
    <Menu trigger={trigger}>
      {({ MenuChoice, MenuHead, MenuItem, MenuLine }) => (
        <>
          <MenuChoice
            title="Projects"
            value={chosen}
            choices={projects.map(({ id, name }) => ({ value: id, label: <span className="cut">{name}</span> }))}
            onChange={onChoose}
          />
          <MenuLine />
          {onNew ? (
            <MenuItem onClick={onNew}>
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              New project
            </MenuItem>
          ) : (
            <MenuHead>Only owners can create projects.</MenuHead>
          )}
        </>
      )}
    </Menu>
  );
}

/** Shows the trigger immediately; a click before the picker has loaded opens it later. */
function SearchedProjects(props: ProjectPickerProps) {
  const [isOpenRequested, setIsOpenRequested] = useState(false);
  const early = cloneElement(props.trigger, { onClick: () => setIsOpenRequested(true), "aria-haspopup": "dialog" });
  return (
    <LazyBoundary fallback={early}>
      <ProjectPicker {...props} defaultOpen={isOpenRequested} />
    </LazyBoundary>
  );
}

function SwitcherButton({ name, wide, ...rest }: { name: string; wide: boolean } & ComponentProps<"button">) {
  return (
    <button
      type="button"
      title={name}
      className={clsx(
        "flex h-9 w-full items-center gap-2 rounded-md text-left font-strong hover:bg-mode-soft",
        wide ? "px-2" : "justify-center wide:justify-start wide:px-2",
      )}
      {...rest}
    >
      <span className="sr-only">Project {name}</span>
      <span aria-hidden className="grid size-5.5 shrink-0 place-items-center rounded-sm bg-mode text-2xs text-on-mode">
        {[...name][0]?.toUpperCase()}
      </span>
      <span aria-hidden className={clsx("cut flex-1", !wide && "hidden wide:block")}>
        {name}
      </span>
      <ChevronsUpDown
        aria-hidden
        className={clsx("size-4 shrink-0 text-muted", !wide && "hidden wide:block")}
        strokeWidth={1.5}
      />
    </button>
  );
}
