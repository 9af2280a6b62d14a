import { useMutation, useQueryClient } from "@tanstack/react-query";
import { pricesQuery, resetPrice } from "../../entities/server/server-api.ts";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";

/** Resets a price to the built-in one. */
export function ResetPrice({ model, may }: { model: string; may: boolean }) {
  const client = useQueryClient();
  const resetting = useMutation({
    mutationFn: () => resetPrice(model),
    onSuccess: async () => {
      await client.invalidateQueries(pricesQuery);
      toast("Custom price removed", model);
    },
    onError: (error) => toastFailure("The price was not removed", error.message),
  });
  return (
    <Button
      kind="ghost"
      size="sm"
      disabled={!may || resetting.isPending}
      aria-label={`Remove custom price of ${model}`}
      onClick={() => resetting.mutate()}
    >
      Remove custom
    </Button>
  );
}
