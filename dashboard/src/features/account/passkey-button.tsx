import { useMutation } from "@tanstack/react-query";
import { signInByPasskey } from "../../entities/session/factor-api.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";

/** Signs in by a passkey, where the browser can. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const signing = useMutation({ mutationFn: signInByPasskey, onSuccess: onSignedIn });
  if (!("PublicKeyCredential" in window)) return null;
  return (
    <>
      <Button size="lg" disabled={signing.isPending} onClick={() => signing.mutate()}>
        Sign in with a passkey
      </Button>
      <ErrorNote title="Not signed in" error={signing.error} />
    </>
  );
}
