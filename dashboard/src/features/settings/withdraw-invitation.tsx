import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Invitation } from "../../../../server/domain/api-types/console.ts";
import { invitationsQuery, withdraw } from "../../entities/server/server-api.ts";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Revokes an invitation's link. */
export function WithdrawInvitation({ invitation: { id, email } }: { invitation: Invitation }) {
  const client = useQueryClient();
  const withdrawing = useMutation({
    mutationFn: () => withdraw(id),
    onSuccess: async () => {
      await client.invalidateQueries(invitationsQuery);
      toast("Invitation withdrawn", `The link for ${email} no longer works.`);
    },
    onError: (error) => toastFailure("The invitation was not withdrawn", error.message),
  });
  return (
    <Button
      kind="danger-quiet"
      size="sm"
      disabled={withdrawing.isPending}
      aria-label={`Withdraw the invitation of ${email}`}
      onClick={() => withdrawing.mutate()}
    >
      Withdraw
    </Button>
  );
}
