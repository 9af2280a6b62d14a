import { useMutation, useQueryClient } from "@tanstack/react-query";
import { pricesQuery, resetPrice } from "../../entities/server/server-api.ts";
import { Button } from "../../ui/button.tsx";
import { failed, toast } from "../../ui/toast.ts";

/** Goes back to the price that came along. */
export function ResetPrice({ model, may }: { model: string; may: boolean }) {
  const client = useQueryClient();
  const resetting = useMutation({
    mutationFn: () => resetPrice(model),
    onSuccess: async () => {
      await client.invalidateQueries(pricesQuery);
      toast("Custom price removed", model);
    },
    onError: (error) => failed("The price was not removed", error.message),
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
