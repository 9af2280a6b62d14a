import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useId } from "react";
import { factorsQuery } from "../../entities/session/factor-api.ts";
import { useSessionUser } from "../../entities/session/use-may.ts";
import { useTitle } from "../../hooks/use-title.ts";
import { type Theme, themes } from "../../lib/appearance.ts";
import { usePreference } from "../../lib/local-storage.ts";
import { withModifier } from "../../lib/modifier.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Section } from "../../ui/data/section.tsx";
import { type TimeFormat, useTimeFormat } from "../../ui/data/time.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { Authenticator } from "./authenticator.tsx";
import { PasskeyList } from "./passkey-list.tsx";
import { PasswordForm } from "./password-form.tsx";
import { SessionList } from "./session-list.tsx";

const themeLabels: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };
const timeLabels: Record<TimeFormat, string> = { relative: "Relative", local: "Local", utc: "UTC" };
const switches = ["on", "off"] as const;

/** The person's own account: preferences of this browser, sign-in factors, and sessions. */
export function AccountPage() {
  const user = useSessionUser();
  useTitle("Account");
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Account</h1>
        <span className="cut text-muted">{user?.email}</span>
        {user && <Badge>{user.role}</Badge>}
      </SheetHead>
      <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
        <div className="max-w-250">
          <Section title="This browser" about="Remembered here, for all pages.">
            <Preferences />
          </Section>
          <OwnFactors />
          <Section
            title="Sessions"
            about="Where you are signed in. A session ends after 12 hours without use, and after 7 days."
          >
            <SessionList />
          </Section>
        </div>
      </div>
    </>
  );
}

/** Password, authenticator app and passkeys. Renders nothing for a person who signs in with an identity provider. */
function OwnFactors() {
  const { data: factors, error, refetch } = useQuery(factorsQuery);
  if (error) return <ErrorNote title="Your account cannot be shown" error={error} onRetry={() => void refetch()} />;
  if (!factors?.password) return null;
  return (
    <>
      <Section title="Password" about="Changing it ends your sessions in all other browsers.">
        <PasswordForm />
      </Section>
      <Section title="Authenticator app" about="Signing in with the password then needs a code from the app.">
        <Authenticator factors={factors} />
      </Section>
      <Section title="Passkeys" about="Sign in with a device instead of a password: by fingerprint, face or PIN.">
        <PasskeyList factors={factors} />
      </Section>
    </>
  );
}

function Preferences() {
  const [theme, setTheme] = usePreference<Theme>("theme", themes, "system");
  const [times, setTimes] = useTimeFormat();
  const [keys, setKeys] = usePreference("keys", switches, "on");
  return (
    <div>
      <Preference label="Theme">
        {(name) => (
          <SegmentedControl
            name={name}
            label="Theme"
            chosen={theme}
            onChoose={setTheme}
            choices={labelled(themeLabels)}
          />
        )}
      </Preference>
      <Preference label="Times" hint="Hovering a time shows all three.">
        {(name) => (
          <SegmentedControl
            name={name}
            label="Times"
            chosen={times}
            onChoose={setTimes}
            choices={labelled(timeLabels)}
          />
        )}
      </Preference>
      <Preference
        label="Single keys"
        hint={`Such as j and k in lists, or c to create. ${withModifier("K")} works either way.`}
      >
        {(name) => (
          <SegmentedControl
            name={name}
            label="Single keys"
            chosen={keys}
            onChoose={setKeys}
            choices={labelled({ on: "On", off: "Off" })}
          />
        )}
      </Preference>
    </div>
  );
}

const labelled = <T extends string>(labels: Record<T, string>) =>
  (Object.entries(labels) as [T, string][]).map(([value, label]) => ({ value, label }));

function Preference({
  label,
  hint,
  children,
}: {
  label: string;
  hint?: string;
  children: (name: string) => ReactNode;
}) {
  const name = useId();
  return (
    <div className="grid items-center gap-x-6 gap-y-2 border-t border-line-soft py-3 first:border-t-0 first:pt-0 rail:grid-cols-[minmax(0,1fr)_auto]">
      <div>
        <div className="font-medium">{label}</div>
        {hint && <div className="text-xs text-muted">{hint}</div>}
      </div>
      {children(name)}
    </div>
  );
}
