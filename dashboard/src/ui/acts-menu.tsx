import { Ellipsis, type LucideIcon } from "lucide-react";
import { Fragment } from "react";
import { buttonClass } from "./button.tsx";
import { Menu } from "./menu.tsx";

interface Act {
  icon: LucideIcon;
  word: string;
  onDo: () => void;
  /** Deletes or ends something: stands apart, in red. */
  danger?: boolean;
}

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** The menu of what can be done with a thing, in its row or its head. */
export function ActsMenu({
  of,
  acts,
  remark,
}: {
  /** The name of the thing, where there are several. */
  of?: string;
  /** Those that may be done now. */
  acts: readonly (Act | false)[];
  /** Why something is not among them. */
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
