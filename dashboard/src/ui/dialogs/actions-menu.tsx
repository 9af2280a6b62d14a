import { Ellipsis, type LucideIcon } from "lucide-react";
import { Fragment } from "react";
import { buttonClass } from "../forms/button.tsx";
import { Menu } from "./menu.tsx";

interface MenuAction {
  icon: LucideIcon;
  word: string;
  onDo: () => void;
  /** Deletes or ends something: separate and red. */
  danger?: boolean;
}

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** Menu of actions for an object, in its row or its head. */
export function ActionsMenu({
  of,
  acts,
  remark,
}: {
  /** Name of the object, if there are several menus. */
  of?: string;
  /** Available actions. */
  acts: readonly (MenuAction | false)[];
  /** Reason why an action is missing. */
  remark?: string;
}) {
  const trigger = (
    <button
      type="button"
      aria-label={of === undefined ? "More actions" : `More for ${of}`}
      className={buttonClass({ kind: "ghost", size: of === undefined ? "icon" : "icon-sm" })}
    >
      <Ellipsis {...icon} />
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuLine, MenuHead }) => (
        <>
          {acts
            .filter((act) => act !== false)
            .map(({ icon: Icon, word, onDo, danger }, index) => (
              <Fragment key={word}>
                {danger && index > 0 && <MenuLine />}
                <MenuItem onClick={onDo}>
                  <Icon {...icon} />
                  {danger ? <span className="text-bad">{word}</span> : word}
                </MenuItem>
              </Fragment>
            ))}
          {remark && (
            <>
              <MenuLine />
              <MenuHead>{remark}</MenuHead>
            </>
          )}
        </>
      )}
    </Menu>
  );
}
