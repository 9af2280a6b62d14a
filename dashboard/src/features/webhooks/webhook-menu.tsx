import { Ellipsis, Pencil, Power, RefreshCw, Send, Trash2 } from "lucide-react";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Menu } from "../../ui/menu.tsx";
import { useSwitchWebhook, type WebhookAct } from "./webhook-acts.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;

/** All that can be done with a webhook. */
export function WebhookMenu({ webhook, onAct }: { webhook: Webhook; onAct: (act: WebhookAct) => void }) {
  const { mode } = useWorkspace();
  const switching = useSwitchWebhook();
  // In live somebody relies on what would be missed.
  const toggle = () =>
    webhook.enabled && mode === "live"
      ? onAct({ kind: "switch-off", webhook })
      : switching.mutate({ id: webhook.id, enabled: !webhook.enabled });
  const trigger = (
    <button
      type="button"
      className={buttonClass({ kind: "ghost", size: "icon-sm" })}
      aria-label={`More for ${webhook.url}`}
    >
      <Ellipsis {...icon} />
    </button>
  );
  return (
    <Menu trigger={trigger} align="end">
      {({ MenuItem, MenuLine }) => (
        <>
          <MenuItem onClick={() => onAct({ kind: "edit", webhook })}>
            <Pencil {...icon} />
            Edit webhook
          </MenuItem>
          <MenuItem onClick={() => onAct({ kind: "rotate", webhook })}>
            <RefreshCw {...icon} />
            Rotate secret
          </MenuItem>
          <MenuItem onClick={() => onAct({ kind: "redeliver", webhook })}>
            <Send {...icon} />
            Send failed events again
          </MenuItem>
          <MenuItem onClick={toggle}>
            <Power {...icon} />
            {webhook.enabled ? "Switch off" : "Switch on"}
          </MenuItem>
          <MenuLine />
          <MenuItem onClick={() => onAct({ kind: "delete", webhook })}>
            <Trash2 {...icon} />
            <span className="text-bad">Delete webhook</span>
          </MenuItem>
        </>
      )}
    </Menu>
  );
}
