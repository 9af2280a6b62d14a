import { Bookmark } from "lucide-react";
import { useState } from "react";
import { isFiltered, type RunsSearch, viewOf } from "../../entities/run/runs-search.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Menu } from "../../ui/dialogs/menu.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { useViews } from "./views.ts";

const longestName = 60;

/** Menu of saved views, with saving the current one. */
export function ViewsMenu({ search, onSearch }: { search: RunsSearch; onSearch: (search: RunsSearch) => void }) {
  const { views, save, remove } = useViews();
  const [saves, setSaves] = useState(false);
  const here = JSON.stringify(viewOf(search));
  const activeView = views.find((view) => JSON.stringify(viewOf(view.search)) === here);
  const mayBeSaved = !activeView && (isFiltered(search) || search.sort !== undefined || search.order !== undefined);
  const trigger = (
    <button type="button" className={`${buttonClass()} max-w-48`}>
      <Bookmark aria-hidden className="size-4 shrink-0" strokeWidth={1.5} />
      <span className="cut">{activeView?.name ?? "Views"}</span>
    </button>
  );
  return (
    <>
      <Menu trigger={trigger} align="end">
        {({ MenuChoice, MenuItem, MenuLine, MenuHead }) => (
          <>
            {views.length > 0 && (
              <MenuChoice
                title="Saved views"
                value={activeView?.name ?? ""}
                choices={views.map(({ name }) => ({ value: name, label: <span className="cut">{name}</span> }))}
                onChange={(name) => onSearch(views.find((view) => view.name === name)?.search ?? {})}
              />
            )}
            {views.length === 0 && <MenuHead>Views that you save in this browser are listed here.</MenuHead>}
            {(mayBeSaved || activeView) && <MenuLine />}
            {mayBeSaved && <MenuItem onClick={() => setSaves(true)}>Save this view…</MenuItem>}
            {activeView && <MenuItem onClick={() => remove(activeView.name)}>Delete “{activeView.name}”</MenuItem>}
          </>
        )}
      </Menu>
      {saves && (
        <SaveView
          names={views.map(({ name }) => name)}
          onSave={(name) => {
            save(name, search);
            toast("View saved", name);
          }}
          onClose={() => setSaves(false)}
        />
      )}
    </>
  );
}

function SaveView({
  names,
  onSave,
  onClose,
}: {
  names: readonly string[];
  onSave: (name: string) => void;
  onClose: () => void;
}) {
  const form = useForm({
    first: { name: "" },
    check: ({ name }) => ({ name: name.trim() ? null : "Enter a name." }),
    send: async ({ name }) => {
      onSave(name.trim());
      onClose();
    },
  });
  const replaces = names.includes(form.draft.name.trim());
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Save view"
      about="Saves the filters and sort order in this browser."
      act={replaces ? "Replace view" : "Save view"}
    >
      <Field label="Name" maxLength={longestName} autoComplete="off" {...form.text("name")} />
    </FormDialog>
  );
}
