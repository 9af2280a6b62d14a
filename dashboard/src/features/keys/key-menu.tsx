import { Copy, Ellipsis, OctagonX, RefreshCw, Settings2, Timer, Trash2 } from "lucide-react";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { buttonClass } from "../../ui/button.tsx";
import { copy } from "../../ui/copy.ts";
import { Menu } from "../../ui/menu.tsx";
import type { KeyState } from "./key-state.ts";
import type { KeyAct } from "./use-key-acts.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** All that can be done with a key. */
export function KeyMenu({
  apiKey: key,
  state,
  isLastAdmin,
  mayChange,
  onAct,
}: {
  apiKey: ApiKey;
  state: KeyState;
  isLastAdmin: boolean;
  mayChange: boolean;
  onAct: (act: KeyAct) => void;
}) {
  const isOver = state === "revoked" || state === "expired";
  const trigger = (
    <button
      type="button"
      className={buttonClass({ kind: "ghost", size: "icon-sm" })}
      aria-label={`More for ${key.name} …${key.last4}`}
    >
      <Ellipsis {...icon} />
    </button>
  );
  const copyId = () => void copy("Key id", key.id);
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuLine, MenuHead }) => (
        <>
          <MenuItem onClick={() => onAct({ kind: "details", key })}>
            <Settings2 {...icon} />
            {isOver || !mayChange ? "Show details" : "Edit name and expiry"}
          </MenuItem>
          <MenuItem onClick={copyId}>
            <Copy {...icon} />
            Copy key id
          </MenuItem>
          {mayChange && state === "rotating" && (
            <>
              <MenuItem onClick={() => onAct({ kind: "overlap", key })}>
                <Timer {...icon} />
                Change overlap
              </MenuItem>
              <MenuItem onClick={() => onAct({ kind: "end", key })}>
                <OctagonX {...icon} />
                End overlap
              </MenuItem>
            </>
          )}
          {mayChange && (state === "active" || state === "exposed") && (
            <MenuItem onClick={() => onAct({ kind: "rotate", key })}>
              <RefreshCw {...icon} />
              Rotate key
            </MenuItem>
          )}
          {mayChange && !isOver && (
            <>
              <MenuLine />
              {isLastAdmin ? (
                <MenuHead>The only admin key. Create another one before you revoke it.</MenuHead>
              ) : (
                <MenuItem onClick={() => onAct({ kind: "revoke", key })}>
                  <Trash2 {...icon} />
                  <span className="text-bad">Revoke key</span>
                </MenuItem>
              )}
            </>
          )}
        </>
      )}
    </Menu>
  );
}
