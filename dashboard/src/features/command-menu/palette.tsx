import { Autocomplete } from "@base-ui/react/autocomplete";
import { Dialog } from "@base-ui/react/dialog";
import { CornerDownLeft } from "lucide-react";
import { type KeyboardEvent, useEffect, useMemo, useState } from "react";
import { Kbd } from "../../ui/data/kbd.tsx";
import { type Command, type CommandGroup, findCommands, firstCommand } from "./find-commands.ts";
import { PaletteRow, paletteField, type TypedInput } from "./palette-row.tsx";
import { useIdCommands } from "./use-id-commands.ts";
import { useSearchCommands } from "./use-search-commands.ts";

/** The command menu: all pages and actions, searched as the person types. A pasted id opens its object. */
export function Palette({
  open,
  onOpenChange,
  groups,
  onGo,
  typed,
  finalFocus,
}: {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The initial text. */
  typed: TypedInput;
  /** Returns the element to focus on close. The dialog cannot know it: its field has the focus before it opens. */
  finalFocus: () => HTMLElement | false;
  groups: readonly CommandGroup[];
  onGo: (path: string) => void;
}) {
  return (
    <Dialog.Root open={open} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-(--z-palette) bg-scrim" />
        <Dialog.Viewport className="fixed inset-0 z-(--z-palette) flex items-start justify-center p-2 rail:pt-16">
          <Dialog.Popup
            aria-label="Search or jump to"
            finalFocus={finalFocus}
            className="enter flex max-h-full w-full max-w-180 flex-col overflow-hidden rounded-xl bg-surface shadow-3 rail:max-h-3/4"
          >
            <CommandList groups={groups} onGo={onGo} typed={typed} onDone={() => onOpenChange(false)} />
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function CommandList({
  groups,
  onGo,
  typed,
  onDone,
}: {
  typed: TypedInput;
  groups: readonly CommandGroup[];
  onGo: (path: string) => void;
  onDone: () => void;
}) {
  const [text, setText] = useState(typed.text);
  const idGroups = useIdCommands(text, onGo);
  const { groups: searchGroups, isSearching, isOfText } = useSearchCommands(text, onGo);
  // The command highlighted by arrow or pointer, for one text. The list's own highlight updates a moment later.
  const [highlighted, setMarked] = useState<{ text: string; command: Command } | null>(null);
  const [entered, setEntered] = useState(typed.isEntered ? typed.text : null);
  const allGroups = useMemo(
    () => [...idGroups, ...removeDuplicates(findCommands(groups, text), searchGroups), ...searchGroups],
    [idGroups, groups, text, searchGroups],
  );
  const run = (command: Command) => {
    onDone();
    command.run();
  };
  const first = firstCommand(allGroups, { isOfText, known: [...idGroups, ...findCommands(groups, text)] });
  const isEntered = entered === text;
  // Enter was pressed before the results arrived: run the first of them.
  useEffect(() => {
    if (!isEntered || !first) return;
    setEntered(null);
    run(first);
  });
  const onKeyDown = (event: KeyboardEvent & { preventBaseUIHandler: () => void }) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventBaseUIHandler();
    event.preventDefault();
    const selected = highlighted?.text === text ? highlighted.command : first;
    if (selected) run(selected);
    else if (isSearching) setEntered(text);
  };
  return (
    <Autocomplete.Root
      open
      inline
      mode="none"
      items={allGroups}
      value={text}
      onValueChange={setText}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={(item: Command) => item.label}
      onItemHighlighted={(command: Command | undefined, { reason }) => {
        if (reason !== "none") setMarked(command ? { text, command } : null);
      }}
    >
      <PaletteRow>
        <Autocomplete.Input
          {...paletteField}
          // Focus at once, because letters typed right after ⌘K belong in this field.
          autoFocus
          onKeyDown={onKeyDown}
        />
        <Dialog.Close aria-label="Esc: close" className="rounded-sm">
          <Kbd>Esc</Kbd>
        </Dialog.Close>
      </PaletteRow>
      <div className="min-h-0 overflow-y-auto overscroll-contain p-1.5">
        <Autocomplete.Empty>
          <p className="px-2.5 py-6 text-center text-muted">
            {isSearching && text.trim() !== ""
              ? "Searching…"
              : "No results. You can also paste the id of a run, agent, key or anything else."}
          </p>
        </Autocomplete.Empty>
        <Autocomplete.List aria-label="Commands">
          {(group: CommandGroup) => (
            <Autocomplete.Group key={group.value} items={group.items} className="pb-1">
              <Autocomplete.GroupLabel className="px-2.5 pt-2 pb-1 text-2xs text-muted">
                {group.value}
              </Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(item: Command) => <Entry key={item.id} command={item} onRun={() => run(item)} />}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </div>
    </Autocomplete.Root>
  );
}

/** Returns the commands without those that the search found too, such as an agent that both contain. */
function removeDuplicates(groups: readonly CommandGroup[], others: readonly CommandGroup[]): CommandGroup[] {
  const ids = new Set(others.flatMap(({ items }) => items.map(({ id }) => id)));
  return groups
    .map(({ value, items }) => ({ value, items: items.filter(({ id }) => !ids.has(id)) }))
    .filter(({ items }) => items.length > 0);
}

function Entry({ command, onRun }: { command: Command; onRun: () => void }) {
  const { icon: Icon, label, hint, keys } = command;
  return (
    <Autocomplete.Item
      value={command}
      onClick={onRun}
      className="group flex min-h-9 cursor-pointer items-center gap-3 rounded-md px-2.5 select-none data-highlighted:bg-accent-soft pointer-coarse:min-h-10"
    >
      <Icon aria-hidden className="size-4 shrink-0 text-muted group-data-highlighted:text-accent" strokeWidth={1.5} />
      <span className="cut" title={label}>
        {label}
      </span>
      <span className="ml-auto flex min-w-0 items-center gap-2 text-xs text-muted max-rail:max-w-1/3 max-rail:shrink-0">
        <span className="cut">{hint}</span>
        {keys && (
          <span aria-hidden className="hidden rail:block">
            <Kbd>{keys}</Kbd>
          </span>
        )}
        <CornerDownLeft
          aria-hidden
          className="invisible size-3.5 shrink-0 group-data-highlighted:visible"
          strokeWidth={1.5}
        />
      </span>
    </Autocomplete.Item>
  );
}
