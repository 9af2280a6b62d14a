import { Ellipsis, Pencil, Plus, Trash2 } from "lucide-react";
import type { Suite } from "../../entities/suite/suite-api.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import type { SuiteAct } from "./suite-acts.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** All that can be done with a suite, but for running it. */
export function SuiteMenu({ suite, onAct }: { suite: Suite; onAct: (act: SuiteAct) => void }) {
  const trigger = (
    <button
      type="button"
      className={buttonClass({ kind: "ghost", size: "icon-sm" })}
      aria-label={`More for ${suite.name}`}
    >
      <Ellipsis {...icon} />
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuLine }) => (
        <>
          <MenuItem onClick={() => onAct({ kind: "add", suite })}>
            <Plus {...icon} />
            Add cases
          </MenuItem>
          <MenuItem onClick={() => onAct({ kind: "edit", suite })}>
            <Pencil {...icon} />
            Edit suite
          </MenuItem>
          <MenuLine />
          <MenuItem onClick={() => onAct({ kind: "delete", suite })}>
            <Trash2 {...icon} />
            <span className="text-bad">Delete suite</span>
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
