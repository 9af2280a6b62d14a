import { useNavigate } from "@tanstack/react-router";
import { clsx } from "clsx";
import { CircleUser, LogOut, Monitor, Moon, Sun } from "lucide-react";
import { useState } from "react";
import type { Session } from "../../../server/domain/api-types/console.ts";
import { type Theme, themes } from "../lib/appearance.ts";
import { usePreference } from "../lib/local-storage.ts";
import { Menu } from "../ui/dialogs/menu.tsx";
import { useSignOut } from "./use-sign-out.ts";

const themeLabels = {
  system: { icon: Monitor, label: "System" },
  light: { icon: Sun, label: "Light" },
  dark: { icon: Moon, label: "Dark" },
};

/** Menu of the signed-in person: theme, version, sign out. */
export function AccountMenu({ session, wide = false }: { session: Session; wide?: boolean }) {
  const [theme, setTheme] = usePreference<Theme>("theme", themes, "system");
  const [failed, setFailed] = useState(false);
  const navigate = useNavigate();
  const { email } = session.user;
  const leave = useSignOut();
  // Report the failure, because the session still exists on the server.
  const tryToLeave = () => leave().catch(() => setFailed(true));
  const trigger = (
    <button
      type="button"
      title={email}
      className={clsx(
        "flex h-9 w-full items-center gap-2.5 rounded-md text-muted hover:bg-mode-soft hover:text-ink",
        wide ? "px-2" : "justify-center wide:justify-start wide:px-2",
      )}
    >
      <span
        aria-hidden
        className="grid size-5.5 shrink-0 place-items-center rounded-full bg-active text-2xs font-strong text-ink"
      >
        {email[0]?.toUpperCase()}
      </span>
      <span className={clsx("cut", !wide && "hidden wide:block")}>{failed ? "Not signed out. Try again." : email}</span>
    </button>
  );
  const choices = themes.map((value) => ({ value, label: <ThemeLabel theme={value} /> }));
  return (
    <Menu trigger={trigger} side="top">
      {({ MenuChoice, MenuHead, MenuItem, MenuLine }) => (
        <>
          <MenuHead>
            <span className="block wrap-anywhere">{email}</span>
            <span className="text-faint">runnel {session.version}</span>
          </MenuHead>
          <MenuLine />
          <MenuItem onClick={() => void navigate({ to: "/account" })}>
            <CircleUser aria-hidden className="size-4" strokeWidth={1.5} />
            Account
          </MenuItem>
          <MenuChoice title="Theme" value={theme} choices={choices} onChange={setTheme} />
          <MenuLine />
          <MenuItem onClick={() => void tryToLeave()}>
            <LogOut aria-hidden className="size-4" strokeWidth={1.5} />
            Sign out
          </MenuItem>
        </>
      )}
    </Menu>
  );
}

function ThemeLabel({ theme }: { theme: Theme }) {
  const { icon: Icon, label } = themeLabels[theme];
  return (
    <>
      <Icon aria-hidden className="size-4" strokeWidth={1.5} />
      {label}
    </>
  );
}
