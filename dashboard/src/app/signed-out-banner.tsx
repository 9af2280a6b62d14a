import { LogOut } from "lucide-react";
import { SignInElsewhere } from "../ui/sign-in-elsewhere.tsx";

/** Says that nobody is signed in any more, to whoever has written something that is not saved. */
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
