import { useMutation } from "@tanstack/react-query";
import { beginOidc } from "../../entities/session/sign-in-api.ts";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";

/** Redirects to the identity provider, which returns the person to `to`. */
export function IssuerButton({ name, to, primary = false }: { name: string; to: string; primary?: boolean }) {
  const leaving = useMutation({
    mutationFn: () => beginOidc(to),
    onSuccess: ({ url }) => window.location.assign(url),
  });
  return (
    <>
      <Button
        kind={primary ? "primary" : "plain"}
        size="lg"
        disabled={leaving.isPending || leaving.isSuccess}
        onClick={() => leaving.mutate()}
      >
        Sign in with {name}
      </Button>
      <ErrorNote title="Not signed in" error={leaving.error} />
    </>
  );
}
