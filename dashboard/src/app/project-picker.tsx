import { Autocomplete } from "@base-ui/react/autocomplete";
import { Popover } from "@base-ui/react/popover";
import { Check, Plus, Search } from "lucide-react";
import { type ReactElement, useState } from "react";
import type { Project } from "../lib/workspace.ts";
import { useEarlyOpen } from "../ui/forms/use-early-open.ts";
import { findProjects } from "./find-projects.ts";

export interface ProjectPickerProps {
  trigger: ReactElement<Record<string, unknown>>;
  projects: readonly Project[];
  chosen: string;
  defaultOpen?: boolean;
  onChoose: (id: string) => void;
  /** Absent if the person may not create projects. */
  onNew?: () => void;
}

const rowClass =
  "flex min-h-8 w-full cursor-pointer items-center gap-2.5 rounded-md px-2 text-left select-none data-highlighted:bg-hover pointer-coarse:min-h-10";

/** Project list with a search field, used if there are many. */
export function ProjectPicker({ trigger, defaultOpen, onNew, ...rest }: ProjectPickerProps) {
  const { isOpen, setOpen, trigger: button } = useEarlyOpen(defaultOpen);
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger ref={button} render={trigger} />
      <Popover.Portal render={<section aria-label="Projects" />}>
        <Popover.Positioner align="start" sideOffset={4} collisionPadding={8} className="z-(--z-palette)">
          <Popover.Popup
            aria-label="Switch project"
            className="enter flex max-h-(--available-height) w-72 flex-col overflow-hidden rounded-lg border border-line bg-surface shadow-2"
          >
            <ProjectList {...rest} onDone={() => setOpen(false)} />
            <div className="shrink-0 border-t border-line p-1 text-xs text-muted">
              {onNew ? (
                <button
                  type="button"
                  className={`${rowClass} text-sm text-ink hover:bg-hover`}
                  onClick={() => {
                    setOpen(false);
                    onNew();
                  }}
                >
                  <Plus aria-hidden className="size-4 text-muted" strokeWidth={1.5} />
                  New project
                </button>
              ) : (
                <p className="px-2 py-1.5">Only owners can create projects.</p>
              )}
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

function ProjectList({
  projects,
  chosen,
  onChoose,
  onDone,
}: Pick<ProjectPickerProps, "projects" | "chosen" | "onChoose"> & { onDone: () => void }) {
  const [text, setText] = useState("");
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={findProjects(projects, text)}
      value={text}
      onValueChange={setText}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={({ name }: Project) => name}
    >
      <div className="flex shrink-0 items-center gap-2.5 border-b border-line px-3">
        <Search aria-hidden className="size-4 shrink-0 text-muted" strokeWidth={1.5} />
        <Autocomplete.Input
          aria-label="Find a project"
          placeholder="Find a project"
          className="h-10 min-w-0 flex-1 bg-transparent focus-visible:shadow-none"
        />
      </div>
      <div className="max-h-80 min-h-0 overflow-y-auto overscroll-contain p-1">
        <Autocomplete.Empty>
          <p className="px-2 py-4 text-center text-xs text-muted">No results.</p>
        </Autocomplete.Empty>
        <Autocomplete.List aria-label="Projects">
          {(project: Project) => (
            <Autocomplete.Item
              key={project.id}
              value={project}
              className={rowClass}
              onClick={() => {
                onDone();
                if (project.id !== chosen) onChoose(project.id);
              }}
            >
              <span className="cut" title={project.name}>
                {project.name}
              </span>
              {project.id === chosen && (
                <>
                  <span className="sr-only">, selected</span>
                  <Check aria-hidden className="ml-auto size-4 shrink-0 text-muted" strokeWidth={1.5} />
                </>
              )}
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </div>
    </Autocomplete.Root>
  );
}
