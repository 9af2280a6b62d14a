import { useMutation } from "@tanstack/react-query";
import { signInByPasskey } from "../../entities/session/factor-api.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";

/** Signs in by passkey. Renders nothing if the browser does not support passkeys. */
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
