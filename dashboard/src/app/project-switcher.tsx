import { clsx } from "clsx";
import { ChevronsUpDown, Plus } from "lucide-react";
import { type ComponentProps, lazy, Suspense, useState } from "react";
import { writePreference } from "../lib/preference.ts";
import type { Project } from "../lib/types.ts";
import { useMay } from "../lib/use-may.ts";
import { useWorkspace } from "../lib/workspace.ts";
import { Menu } from "../ui/menu.tsx";
import { useRefreshSession } from "./use-refresh-session.ts";
import { useLeaveObject } from "./use-switch-mode.ts";

/** Loaded when first wanted: projects are made seldom. */
const NewProject = lazy(() =>
  import("../features/settings/new-project.tsx").then((module) => ({ default: module.NewProject })),
);

/** The project's name, and a menu of all projects and the way to a new one. */
export function ProjectSwitcher({ projects, wide = false }: { projects: Project[]; wide?: boolean }) {
  const { project } = useWorkspace();
  const choose = useChooseProject();
  const may = useMay("owner");
  const refresh = useRefreshSession();
  const [making, setMaking] = useState<boolean | null>(null);
  const made = async (id: string) => {
    await refresh();
    choose(id);
  };
  return (
    <>
      <Menu trigger={<SwitcherButton name={project.name} wide={wide} />}>
        {({ MenuChoice, MenuHead, MenuItem, MenuLine }) => (
          <>
            <MenuChoice
              title="Projects"
              value={project.id}
              choices={projects.map(({ id, name }) => ({ value: id, label: <span className="cut">{name}</span> }))}
              onChange={choose}
            />
            <MenuLine />
            {may ? (
              <MenuItem onClick={() => setMaking(true)}>
                <Plus aria-hidden className="size-4" strokeWidth={1.5} />
                New project
              </MenuItem>
            ) : (
              <MenuHead>Owners make new projects.</MenuHead>
            )}
          </>
        )}
      </Menu>
      {making !== null && (
        <Suspense>
          <NewProject open={making} onOpenChange={setMaking} onCreated={made} />
        </Suspense>
      )}
    </>
  );
}

/** Keeps the page, unless it shows an object: that belongs to one project. */
function useChooseProject(): (id: string) => void {
  const leaveObject = useLeaveObject();
  return (id) => {
    writePreference("project", id);
    leaveObject();
  };
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
