import { LogOut } from "lucide-react";
import { SignInElsewhere } from "../ui/dialogs/sign-in-elsewhere.tsx";

/** Tells a person with unsaved input that they were signed out. */
export function SignedOutBanner({ shown }: { shown: boolean }) {
  return (
    <div role="alert">
      {shown && (
        <div className="enter flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn-line bg-warn-soft px-4 py-2 rail:px-5">
          <LogOut aria-hidden className="size-4 shrink-0 text-warn" strokeWidth={1.5} />
          <span className="min-w-0 flex-1">
            <b>You are signed out.</b> What you have written is still here. Sign in, then come back to save it.
          </span>
          <SignInElsewhere />
        </div>
      )}
    </div>
  );
}
